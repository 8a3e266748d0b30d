#define _GNU_SOURCE
#include "clock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MISSED_US 1000
#define PRIORITY 30

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

const char *keep_time(bool priority)
{
    struct stat out;
    if (fstat(STDOUT_FILENO, &out) == 0 && S_ISFIFO(out.st_mode)) /* a terminal is also the shell's: leave it as it is */
        fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    if (!priority)
        return "[\"exact timers\"]";
    struct sched_param wish = {.sched_priority = PRIORITY};
    bool first = sched_setscheduler(0, SCHED_FIFO, &wish) == 0;
    bool locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
    return first && locked ? "[\"exact timers\", \"real-time priority 30\", \"memory locked\"]"
           : first         ? "[\"exact timers\", \"real-time priority 30\"]"
           : locked        ? "[\"exact timers\", \"no real-time priority: not permitted\", \"memory locked\"]"
                           : "[\"exact timers\", \"no real-time priority: not permitted\"]";
}

struct deadlines start_deadlines(uint32_t period_us, unsigned turns)
{
    struct deadlines deadlines = {.due_us = now_us(), .turn_us = period_us / turns, .turns = turns};
    if (period_us % turns != 0) { /* an odd period: turn as often as the law calculates */
        deadlines.turn_us = period_us;
        deadlines.turns = 1;
    }
    return deadlines;
}

void count_deadline(struct deadlines *deadlines)
{
    if (deadlines->turn == 0) {
        int64_t late = now_us() - deadlines->due_us;
        deadlines->due++;
        deadlines->missed += late > MISSED_US;
        if (late > deadlines->latest_us)
            deadlines->latest_us = late;
    }
}

static void advance(struct deadlines *deadlines)
{
    deadlines->due_us += deadlines->turn_us;
    deadlines->turn = (deadlines->turn + 1) % deadlines->turns;
}

bool wait_for_deadline(struct deadlines *deadlines)
{
    advance(deadlines);
    struct timespec due = {.tv_sec = deadlines->due_us / 1000000, .tv_nsec = deadlines->due_us % 1000000 * 1000};
    if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) != 0)
        return false;
    while (now_us() - deadlines->due_us >= deadlines->turn_us) {
        count_deadline(deadlines);
        advance(deadlines);
    }
    return true;
}

void say_status(struct deadlines *deadlines, const char *granted)
{
    char text[512];
    int length = snprintf(text, sizeof text,
                          "{\"program\": \"mid\", \"now\": %.6f, \"granted\": %s, \"due\": %" PRId64 ", \"missed\": %" PRId64
                          ", \"latest_us\": %" PRId64 "}\n",
                          (double)now_us() * 1e-6, granted, deadlines->due, deadlines->missed, deadlines->latest_us);
    if (length > 0 && write(STDOUT_FILENO, text, (size_t)length) < 0) {
        /* nobody reads, or the pipe is full: the next line will do */
    }
    deadlines->latest_us = 0;
}
