/* What both ends of every line were built for. Python: footfall/machines/control/settings.py. */
#ifndef FF_SETTINGS_H
#define FF_SETTINGS_H

#include "framing.h"
#include "pid.h"

#define FF_MOST_MOTORS 2
#define FF_LONGEST_FINGERPRINT 21 /* two whole numbers below 2^32 and a comma */

struct ff_settings {
    struct ff_gains gains;
    struct ff_format down; /* of the frames from the high level */
    int32_t motors;
    float signs[FF_MOST_MOTORS]; /* how each motor is mounted: +1 or -1 */
    int32_t boards;              /* of the motor driver; 2: each has one motor, as its axis 0 */
    float torque_constant;       /* N m/A: the driver's `c` takes torques */
    uint32_t report_period_us;
    uint32_t watchdog_us;
    char fingerprint[FF_LONGEST_FINGERPRINT + 1]; /* of all of these and of the law; said when asked */
};

/* Those in footfall_config.h. */
extern const struct ff_settings ff_built_for;

#endif
