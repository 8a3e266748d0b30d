/* Absolute deadlines on this machine's clock, and how they were kept. */
#ifndef HOST_CLOCK_H
#define HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct deadlines {
    int64_t due_us;    /* the deadline being served, on CLOCK_MONOTONIC */
    int64_t turn_us;   /* from one turn of the loop to the next */
    unsigned turns;    /* per deadline of the law */
    unsigned turn;     /* of the present one */
    int64_t due;       /* deadlines of the law so far */
    int64_t missed;    /* of these, those by more than a millisecond */
    int64_t latest_us; /* by how much the worst was missed since the last status line */
};

/* Exact timers, and with `priority` real-time scheduling where it is permitted. Says what was granted, as a JSON array. */
const char *keep_time(bool priority);

struct deadlines start_deadlines(uint32_t period_us, unsigned turns);

/* Sleeps until the next turn. Turns that have passed altogether are left out, never made up for. False if a signal came. */
bool wait_for_deadline(struct deadlines *deadlines);

/* The turn's work is done. */
void count_deadline(struct deadlines *deadlines);

/* One line on standard output; lost if nobody reads. */
void say_status(struct deadlines *deadlines, const char *granted);

#endif
