/* The pitch law, bit for bit what footfall/machines/control/pid.py gives in single precision. */
#ifndef FF_PID_H
#define FF_PID_H

#include <stdbool.h>
#include <stdint.h>

struct ff_gains {
    float proportional, integral, derivative;
    float integral_limit, output_limit;
    float filter_time;  /* s, of the derivative; 0: the raw difference */
    uint32_t period_us; /* nominal sample time */
};

struct ff_pid {
    uint32_t last_us;
    bool started;
    float integral, derivative, previous, output;
};

/* As if it had never run. */
void ff_pid_clear(struct ff_pid *memory);

/* True if it calculated. Called early, it changes nothing; called late, it calculates once. */
bool ff_pid_update(const struct ff_gains *gains, struct ff_pid *memory, uint32_t now_us, float setpoint, float measured);

/* Between -limit and limit; what is no number stays none. */
float ff_clamp(float value, float limit);

#endif
