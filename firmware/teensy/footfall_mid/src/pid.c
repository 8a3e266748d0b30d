#include "exact_floats.h"
#include "pid.h"

#include <string.h>

float ff_clamp(float value, float limit)
{
    return value < -limit ? -limit : value > limit ? limit : value;
}

void ff_pid_clear(struct ff_pid *memory)
{
    memset(memory, 0, sizeof *memory);
}

bool ff_pid_update(const struct ff_gains *gains, struct ff_pid *memory, uint32_t now_us, float setpoint, float measured)
{
    if (memory->started && now_us - memory->last_us < gains->period_us) /* unsigned: the wrap does not matter */
        return false;
    float sample_time = (float)gains->period_us * 1e-6f;
    float error = setpoint - measured;
    float grown = memory->integral + gains->integral * error * sample_time;
    float slope = -(measured - memory->previous) / sample_time;
    float raw = memory->started ? slope : 0.0f;
    float share = sample_time / (gains->filter_time + sample_time);

    memory->last_us = now_us;
    memory->started = true;
    memory->integral = ff_clamp(grown, gains->integral_limit);
    memory->derivative += share * (raw - memory->derivative);
    memory->previous = measured;
    memory->output = ff_clamp(gains->proportional * error + memory->integral + gains->derivative * memory->derivative,
                              gains->output_limit);
    return true;
}
