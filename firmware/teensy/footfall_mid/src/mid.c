#include "exact_floats.h"
#include "mid.h"

#include "decimal_text.h"
#include "microseconds.h"

#include <math.h>
#include <string.h>

static const float SIDES[FF_MOST_MOTORS] = {1.0f, -1.0f}; /* how the steering current acts on left and right */

/* Between -limit and limit; what is no number stays none. */
static float clamp(float value, float limit)
{
    return value < -limit ? -limit : value > limit ? limit : value;
}

static void switch_off(struct ff_mid *mid)
{
    mid->on = mid->blind = mid->still = false;
    ff_pid_clear(&mid->memory);
}

static void trip(struct ff_mid *mid)
{
    mid->armed = false;
    mid->watchdog_tripped = true;
    switch_off(mid);
}

void ff_mid_start(struct ff_mid *mid, const struct ff_settings *settings)
{
    memset(mid, 0, sizeof *mid);
    mid->settings = settings;
    ff_reader_start(&mid->reader);
    switch_off(mid);
}

void ff_mid_receive(struct ff_mid *mid, uint8_t byte, uint32_t now_us)
{
    double values[FF_MOST_FIELDS] = {0.0};
    if (ff_reader_take(&mid->reader, &mid->settings->down, byte, values))
        ff_mid_take(mid, values[0], values[1] != 0.0, values[2], values[3], now_us);
}

void ff_mid_take(struct ff_mid *mid, double setpoint, bool setpoint_on, double pitch, double steer, uint32_t now_us)
{
    mid->heard_us = now_us;
    mid->setpoint = (float)setpoint;
    mid->pitch = (float)pitch;
    mid->steer = (float)steer;
    if (!setpoint_on) {
        mid->armed = true;
        mid->watchdog_tripped = false;
        if (mid->on)
            switch_off(mid);
    } else if (mid->armed) {
        mid->on = true; /* the law's memory is cleared: its first call takes the present pitch for the previous one */
    }
}

/* "*N", N the exclusive or of the bytes from `line` up to `end`, in decimal. */
static char *end_with_checksum(const char *line, char *end)
{
    uint8_t sum = 0;
    for (const char *at = line; at < end; at++)
        sum ^= (uint8_t)*at;
    *end++ = '*';
    if (sum >= 100)
        *end++ = (char)('0' + sum / 100);
    if (sum >= 10)
        *end++ = (char)('0' + sum / 10 % 10);
    *end++ = (char)('0' + sum % 10);
    return end;
}

/* A garbled line is ignored by the driver, not obeyed. */
static size_t current_lines(const struct ff_settings *settings, const float *currents, char *text)
{
    char *end = text;
    for (int32_t motor = 0; motor < settings->motors; motor++) {
        char *line = end;
        *end++ = 'c';
        *end++ = ' ';
        *end++ = (char)('0' + (settings->boards > 1 ? 0 : motor));
        *end++ = ' ';
        end += ff_fixed(settings->signs[motor] * currents[motor] * settings->torque_constant, FF_DRIVER_DECIMALS, end);
        end = end_with_checksum(line, end);
        *end++ = '\n';
    }
    return (size_t)(end - text);
}

size_t ff_zero_lines(const struct ff_settings *settings, char *text)
{
    static const float nothing[FF_MOST_MOTORS] = {0.0f, 0.0f};
    return current_lines(settings, nothing, text);
}

size_t ff_lines_of(const struct ff_settings *settings, const char *lines, size_t length, int32_t board, const char **begin)
{
    const char *end = lines + length;
    int32_t share = settings->motors / settings->boards;
    for (int32_t skipped = 0; lines < end && skipped < share * board; lines++)
        skipped += *lines == '\n';
    *begin = lines;
    for (int32_t taken = 0; lines < end && taken < share; lines++)
        taken += *lines == '\n';
    return (size_t)(lines - *begin);
}

/* Current commands if the law calculated. */
static size_t drive(struct ff_mid *mid, uint32_t now_us, char *text)
{
    const struct ff_settings *settings = mid->settings;
    struct ff_pid memory = mid->memory;
    bool seen = isfinite(mid->pitch);
    if (!ff_pid_update(&settings->gains, &memory, now_us, mid->setpoint, seen ? mid->pitch : memory.previous))
        return 0;
    if (!seen) { /* keep the previous output for one call */
        memory = mid->memory;
        memory.last_us = now_us;
    }
    bool failed = mid->blind && !seen;
    float currents[FF_MOST_MOTORS] = {0.0f, 0.0f};
    for (int32_t motor = 0; motor < settings->motors; motor++) {
        currents[motor] = clamp(memory.output + SIDES[motor] * mid->steer, settings->gains.output_limit);
        failed = failed || !isfinite(currents[motor]);
    }
    if (failed) {
        trip(mid);
        return 0;
    }
    mid->memory = memory;
    mid->blind = !seen;
    return current_lines(settings, currents, text);
}

/* 0 A, at once and then once per period: sent, not merely left out. */
static size_t hold_still(struct ff_mid *mid, uint32_t now_us, char *text)
{
    if (mid->still && now_us - mid->still_us < (uint32_t)mid->settings->gains.period_us)
        return 0;
    mid->still = true;
    mid->still_us = now_us;
    return ff_zero_lines(mid->settings, text);
}

/* The output, at fixed times: a late report does not delay those after it; those missed altogether are not made up for. */
static size_t report(struct ff_mid *mid, uint32_t now_us, char *text)
{
    uint32_t period = mid->settings->report_period_us;
    if (mid->reporting && !ff_at_least(now_us, mid->next_report_us, 0))
        return 0;
    uint32_t late = mid->reporting ? now_us - mid->next_report_us : 0;
    mid->next_report_us = now_us + period - (late < period ? late : 0);
    mid->reporting = true;
    return ff_write_frame(mid->settings->down.checksum, mid->memory.output, text);
}

/* What this was built for: one answer to all requests since the last call. */
static size_t answer(struct ff_mid *mid, char *text)
{
    if (mid->reader.requests == mid->answered)
        return 0;
    mid->answered = mid->reader.requests;
    size_t length = strlen(mid->settings->fingerprint);
    memcpy(text + 1, mid->settings->fingerprint, length);
    return ff_frame(mid->settings->down.checksum, length, text);
}

void ff_mid_step(struct ff_mid *mid, uint32_t now_us, struct ff_sent *sent)
{
    if (mid->armed && ff_at_least(now_us, mid->heard_us, mid->settings->watchdog_us))
        trip(mid);
    size_t length = mid->on ? drive(mid, now_us, sent->to_driver) : 0;
    if (!mid->on) /* perhaps only just */
        length = hold_still(mid, now_us, sent->to_driver);
    sent->to_driver_length = (uint8_t)length;
    length = report(mid, now_us, sent->to_high);
    length += answer(mid, sent->to_high + length);
    sent->to_high_length = (uint8_t)length;
}
