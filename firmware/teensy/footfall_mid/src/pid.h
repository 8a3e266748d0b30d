/* The pitch law, bit for bit what footfall/machines/control/pid.py gives in single precision.
 *
 * e = r - y
 * I <- clamp(I + Ki e Ts, +-I_lim)
 * D <- D + Ts / (Tf + Ts) (raw - D),  raw = -(y - y_prev) / Ts, 0 at the first call      (stack.1)
 * u = clamp(Kp e + I + Kd D, +-u_lim)
 *
 * Ts is the nominal sample time however late the call comes: one calculation, no catching up.
 *
 * Made by footfall from footfall/machines/control/pid.py: change that and make this again
 * by `make format`, rather than editing it. */

#ifndef FOOTFALL_PID_H
#define FOOTFALL_PID_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of the law. */
struct ff_gains {
    float proportional;
    float integral;
    float derivative;
    float integral_limit; /* largest size of the integral part, in units of the output */
    float output_limit;
    float filter_time;    /* s, of the derivative; 0: the raw difference */
    int32_t period_us;    /* nominal sample time, whole microseconds */
};

/* What the law remembers between calls. */
struct ff_pid {
    uint32_t last_us; /* when it last calculated */
    bool started;     /* whether it has, since it was cleared */
    float integral;   /* already multiplied by its gain, so that a change of gain makes no bump */
    float derivative; /* filtered */
    float previous;   /* measurement of the last calculation */
    float output;
};

/* As if it had never run. */
void ff_pid_clear(struct ff_pid *memory);

/* now_us: time in microseconds, which may wrap
 * setpoint: what is wanted
 * measured: what is
 * Returns true if it calculated. Called early, it changes nothing; late, it calculates once. */
bool ff_pid_update(const struct ff_gains *gains, struct ff_pid *memory, uint32_t now_us,
                   float setpoint, float measured);

#ifdef __cplusplus
}
#endif

#endif
