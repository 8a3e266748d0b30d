#include "settings.h"

#include "footfall_config.h"

const struct ff_settings ff_built_for = {
    .gains = {
        .proportional = FF_PROPORTIONAL,
        .integral = FF_INTEGRAL,
        .derivative = FF_DERIVATIVE,
        .integral_limit = FF_INTEGRAL_LIMIT,
        .output_limit = FF_OUTPUT_LIMIT,
        .filter_time = FF_FILTER_TIME,
        .period_us = FF_PERIOD_US,
    },
    .down = {
        .fields = {
            {.limit = FF_SETPOINT_LIMIT, .flag = 0},
            {.limit = 1.0, .flag = 1},
            {.limit = FF_PITCH_LIMIT, .flag = 0},
            {.limit = FF_STEER_LIMIT, .flag = 0},
        },
        .count = FF_STEERING ? 4 : 3,
        .checksum = FF_CHECKSUM,
    },
    .motors = FF_MOTORS,
    .signs = {FF_SIGN_LEFT, FF_SIGN_RIGHT},
    .boards = FF_BOARDS,
    .torque_constant = FF_TORQUE_CONSTANT,
    .report_period_us = FF_REPORT_PERIOD_US,
    .watchdog_us = FF_WATCHDOG_US,
    .fingerprint = FF_FINGERPRINT,
};
