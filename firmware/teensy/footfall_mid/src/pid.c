#include "exact_floats.h"
#include "pid.h"

/* What is no number stays none. */
static float larger_float(float a, float b) { return a < b || b != b ? b : a; }

/* What is no number stays none. */
static float smaller_float(float a, float b) { return a > b || b != b ? b : a; }

void ff_pid_clear(struct ff_pid *memory)
{
    memory->last_us = 0u;
    memory->started = false;
    memory->integral = 0.0f;
    memory->derivative = 0.0f;
    memory->previous = 0.0f;
    memory->output = 0.0f;
}

bool ff_pid_update(const struct ff_gains *gains, struct ff_pid *memory, uint32_t now_us,
                   float setpoint, float measured)
{
    const int32_t elapsed = (int32_t)(now_us - memory->last_us);
    const bool waits = memory->started && elapsed >= 0 && elapsed < gains->period_us;
    const float sample_time = (float)gains->period_us * 1e-06f;
    const float error = setpoint - measured;
    const float grown = memory->integral + gains->integral * error * sample_time;
    const float integral = smaller_float(larger_float(grown, -gains->integral_limit), gains->integral_limit);
    const float slope = -(measured - memory->previous) / sample_time;
    const float raw = memory->started ? slope : 0.0f * slope;
    const float derivative = memory->derivative + sample_time / (gains->filter_time + sample_time) * (raw - memory->derivative);
    const float wanted = gains->proportional * error + integral + gains->derivative * derivative;
    const float output = smaller_float(larger_float(wanted, -gains->output_limit), gains->output_limit);
    memory->last_us = waits ? memory->last_us : now_us;
    memory->started = waits ? memory->started : true;
    memory->integral = waits ? memory->integral : integral;
    memory->derivative = waits ? memory->derivative : derivative;
    memory->previous = waits ? memory->previous : measured;
    memory->output = waits ? memory->output : output;
    return !waits;
}
