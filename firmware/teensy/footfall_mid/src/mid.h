/* The program of the mid level, without its ports: bytes and the time go in, bytes come out. Python: footfall/machines/control/mid.py. */
#ifndef FF_MID_H
#define FF_MID_H

#include "settings.h"

#define FF_DRIVER_DECIMALS 6
#define FF_LONGEST_ANSWER (FF_LONGEST_FINGERPRINT + 5) /* '<', the fingerprint, "*HH", '>' */
#define FF_LONGEST_LINE 27 /* "c 0 ", a number, "*255", '\n' */

struct ff_mid {
    const struct ff_settings *settings;
    struct ff_reader reader;
    struct ff_pid memory;
    float setpoint, pitch, steer;
    uint32_t heard_us;       /* when the last valid frame came; means something only while armed */
    uint32_t still_us;       /* when 0 A was last sent; means something only while still */
    uint32_t next_report_us; /* means something only once reporting */
    uint32_t answered;       /* requests of the high level */
    bool on;                 /* the law is running */
    bool armed;              /* a 0 has been heard since the start, or since the watchdog tripped: a 1 counts */
    bool watchdog_tripped;   /* it has, and the high level has not yet said 0 */
    bool blind;              /* the last calculation had no finite pitch */
    bool still;              /* 0 A has been sent since it is off */
    bool reporting;
};

struct ff_sent {
    uint8_t to_high_length, to_driver_length; /* 0: nothing is due */
    char to_high[FF_LONGEST_REPORT + FF_LONGEST_ANSWER];
    char to_driver[FF_MOST_MOTORS * FF_LONGEST_LINE]; /* a line for each motor; with a board for each, each goes to its own */
};

/* As after the power came on: off. */
void ff_mid_start(struct ff_mid *mid, const struct ff_settings *settings);

/* One byte that has arrived from the high level. */
void ff_mid_receive(struct ff_mid *mid, uint8_t byte, uint32_t now_us);

/* The values of one valid frame. */
void ff_mid_take(struct ff_mid *mid, double setpoint, bool setpoint_on, double pitch, double steer, uint32_t now_us);

/* What is due now. Call it as often as possible. */
void ff_mid_step(struct ff_mid *mid, uint32_t now_us, struct ff_sent *sent);

/* 0 A for every motor, whatever the program is doing: the last thing to send before it ends. Returns the length. */
size_t ff_zero_lines(const struct ff_settings *settings, char *text);

/* What of these lines goes to a board of the driver: where it begins in them, and its length. */
size_t ff_lines_of(const struct ff_settings *settings, const char *lines, size_t length, int32_t board, const char **begin);

#endif
