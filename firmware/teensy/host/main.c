/* The mid level's program as a process of a Linux machine, in place of the Teensy.
 *
 *     footfall-mid --high LINE --driver LINE [--driver LINE] --reset PATH [--settings PATH] [--parent PID] [--priority]
 *
 * --high      line to the high level: name of a pseudo-terminal to make, or fd:N,M, an end of a socket pair and its other
 * --driver    line to the motor driver: a serial port, or fd:N; for each board
 * --reset     file of one byte that stands for the reset pin: '0' held in reset, anything else running
 * --settings  accepted, so that this takes the same arguments as `python -m footfall.realtime.mid_process`; not read, because a
 *             firmware's settings are compiled in
 * --parent    end when this process does
 * --priority  ask for real-time scheduling
 *
 * Every 0.2 s one line of JSON on standard output says how the loop kept time. */
#define _GNU_SOURCE
#include "clock.h"
#include "ports.h"

#include "mid.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define TURNS_PER_PERIOD 4 /* bytes are looked at more often than the law calculates */
#define STATUS_EVERY_US 200000

struct asked {
    const char *high, *drivers[FF_MOST_MOTORS], *reset;
    int boards;
    long parent;
    int priority;
};

static volatile sig_atomic_t ending = 0;

static void end(int signal_number)
{
    (void)signal_number;
    ending = 1;
}

static const char *value_of(int count, char **words, int at)
{
    if (at + 1 >= count) {
        fprintf(stderr, "footfall-mid: %s needs a value\n", words[at]);
        exit(2);
    }
    return words[at + 1];
}

static void add_driver(struct asked *asked, const char *line)
{
    if (asked->boards < FF_MOST_MOTORS)
        asked->drivers[asked->boards] = line;
    asked->boards++;
}

static struct asked read_arguments(int count, char **words)
{
    struct asked asked = {.parent = 0};
    for (int at = 1; at < count; at++) {
        if (strcmp(words[at], "--priority") == 0)
            asked.priority = 1;
        else if (strcmp(words[at], "--high") == 0)
            asked.high = value_of(count, words, at++);
        else if (strcmp(words[at], "--driver") == 0)
            add_driver(&asked, value_of(count, words, at++));
        else if (strcmp(words[at], "--reset") == 0)
            asked.reset = value_of(count, words, at++);
        else if (strcmp(words[at], "--parent") == 0)
            asked.parent = strtol(value_of(count, words, at++), NULL, 10);
        else if (strcmp(words[at], "--settings") == 0)
            value_of(count, words, at++);
        else {
            fprintf(stderr, "footfall-mid: %s is no argument. Known: --high --driver --reset --settings --parent --priority\n",
                    words[at]);
            exit(2);
        }
    }
    if (asked.high == NULL || asked.boards == 0 || asked.reset == NULL) {
        fprintf(stderr, "footfall-mid: --high, --driver and --reset are needed, each with a path\n");
        exit(2);
    }
    if (asked.boards != ff_built_for.boards) {
        fprintf(stderr, "footfall-mid: --driver came %d times; this was built for boards = %d\n", asked.boards,
                (int)ff_built_for.boards);
        exit(2);
    }
    return asked;
}

static void listen_for_the_end(long parent)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = end; /* without SA_RESTART: it also ends the sleep */
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a status line nobody reads */
    if (parent > 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != (pid_t)parent) {
            fprintf(stderr, "footfall-mid: the program that started this one is gone\n");
            exit(1);
        }
    }
}

/* Each motor's line to its board. */
static void command(struct line *drivers, const char *lines, size_t length)
{
    for (int32_t board = 0; board < ff_built_for.boards; board++) {
        const char *begin;
        size_t own = ff_lines_of(&ff_built_for, lines, length, board, &begin);
        write_line(&drivers[board], begin, own);
    }
}

int main(int count, char **words)
{
    struct asked asked = read_arguments(count, words);
    listen_for_the_end(asked.parent);
    struct reset_pin reset = open_reset_pin(asked.reset);
    struct line drivers[FF_MOST_MOTORS];
    for (int board = 0; board < asked.boards; board++)
        drivers[board] = open_port(asked.drivers[board]);
    struct line high = open_device(asked.high);
    const char *granted = keep_time(asked.priority);

    struct ff_mid mid;
    struct ff_sent sent;
    ff_mid_start(&mid, &ff_built_for);
    bool held = false;
    struct deadlines deadlines = start_deadlines(ff_built_for.gains.period_us, TURNS_PER_PERIOD);
    int64_t next_status_us = deadlines.due_us + STATUS_EVERY_US;

    while (!ending) {
        /* The program is told the time of the deadline, not that of waking: the law calculates only when a whole period has passed,
         * and a microsecond too early would cost it a turn. */
        if (!wait_for_deadline(&deadlines))
            break; /* a signal */
        uint32_t now_us = (uint32_t)deadlines.due_us;
        uint8_t arrived[4096];
        size_t length = read_line(&high, arrived, sizeof arrived);
        if (is_low(&reset)) {
            held = true; /* a chip in reset hears nothing and says nothing */
        } else {
            if (held)
                ff_mid_start(&mid, &ff_built_for);
            held = false;
            for (size_t k = 0; k < length; k++)
                ff_mid_receive(&mid, arrived[k], now_us);
            ff_mid_step(&mid, now_us, &sent);
            command(drivers, sent.to_driver, sent.to_driver_length);
            write_line(&high, sent.to_high, sent.to_high_length);
        }
        count_deadline(&deadlines);
        if (deadlines.due_us >= next_status_us) {
            say_status(&deadlines, granted);
            next_status_us += STATUS_EVERY_US;
        }
    }
    /* 0 A, so that nothing flows until the driver's watchdog would see to it. */
    command(drivers, sent.to_driver, ff_zero_lines(&ff_built_for, sent.to_driver));
    say_status(&deadlines, granted);
    close_device(&high, asked.high);
    return 0;
}
