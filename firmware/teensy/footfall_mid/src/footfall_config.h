/* What the firmware is built for. Made by `footfall stack firmware`: change the scenario
 * and make it again rather than editing it here, or the supervisor will refuse it. */
#ifndef FOOTFALL_CONFIG_H
#define FOOTFALL_CONFIG_H

/* The law: amperes per motor, from radians. */
#define FF_PROPORTIONAL 16.339869f           /* A/rad */
#define FF_INTEGRAL 27.233116f               /* A/(rad s) */
#define FF_DERIVATIVE 1.2254902f             /* A s/rad */
#define FF_INTEGRAL_LIMIT 5.0f               /* A */
#define FF_OUTPUT_LIMIT 40.0f                /* A */
#define FF_FILTER_TIME 0.01f                 /* s, of the derivative */
#define FF_PERIOD_US UINT32_C(1000)          /* at which the law calculates */

/* Frames from the high level: largest sizes, as their notation rounds them. */
#define FF_SETPOINT_LIMIT 1.5707963267948966 /* rad */
#define FF_PITCH_LIMIT 3.141593              /* rad */
#define FF_STEER_LIMIT 5.0                   /* A */
#define FF_STEERING 1                        /* frames carry a steering current */
#define FF_CHECKSUM 1                        /* frames carry *HH, both ways */
#define FF_WATCHDOG_US UINT32_C(100000)      /* without a valid frame: off */
#define FF_REPORT_PERIOD_US UINT32_C(10000)  /* at which the output is reported */

/* The motor driver. */
#define FF_MOTORS 2
#define FF_SIGN_LEFT 1.0f                    /* how it is mounted */
#define FF_SIGN_RIGHT 1.0f
#define FF_BOARDS 1                          /* 2: each has one motor, as its axis 0 */
#define FF_TORQUE_CONSTANT 0.034f            /* N m/A */

/* Of all of the above and of the law: said to the high level, which compares. */
#define FF_FINGERPRINT "3732643017,1956805410"

#endif
