// The mid level of footfall's control stack on a Teensy: ports around the program in src/, which also runs on a PC.
// Wiring, flashing, and what was not tried: ../README.md

extern "C" {
#include "src/mid.h"
}

// The high level: USB, which a Teensy starts by itself. Serial.begin() would only wait up to two seconds for somebody to listen, and the
// motors must be told to stand still meanwhile.
#define HIGH_LEVEL Serial

// The motor driver: pin 1 (TX1) to the ODrive's RX; the second of two boards, pin 8 (TX2). A line is at most 18 bytes for torques below
// 10 N m, so two every millisecond are 36 kB/s; ten bits a byte makes 360 kbit/s, so 115200 baud is not enough and 460800 leaves 22 % in
// hand. Set the ODrive's UART to the same.
static HardwareSerial *const DRIVERS[FF_MOST_MOTORS] = {&Serial1, &Serial2};
static const uint32_t DRIVER_BAUD = 460800;

// Bytes looked at in one turn of the loop, ten frames and more: a flooded port must not stop the law.
static const int MOST_BYTES = 512;

// Looks at a full port for the last word, once the program may run again: some milliseconds, in which any port empties.
static const int MOST_TRIES = 100000;

// Active low, with a pull-up: an open wire lets the program run. A Teensy 4 has no reset pin to wire, so this one holds the program
// still while it is low and starts it anew when it is released. The USB port stays, which the high level likes.
static const uint8_t RESET_PIN = 2;

// Steady: running, waiting for the high level. Fast blink: the law is running. Slow blink: the watchdog has tripped.
static const uint8_t LIGHT_PIN = LED_BUILTIN;

static struct ff_mid program;
static struct ff_sent sent;

void setup()
{
    pinMode(RESET_PIN, INPUT_PULLUP);
    pinMode(LIGHT_PIN, OUTPUT);
    for (int32_t board = 0; board < ff_built_for.boards; board++)
        DRIVERS[board]->begin(DRIVER_BAUD);
    ff_mid_start(&program, &ff_built_for);
}

// A message goes out whole or not at all: waiting for room would stop the law, and half a line of one command and half of another
// would be a third command. Whether it went.
static bool send(Print &line, const char *bytes, size_t length)
{
    if (length != 0 && (size_t)line.availableForWrite() < length)
        return false;
    if (length != 0)
        line.write((const uint8_t *)bytes, length);
    return true;
}

// Each motor's line to its board. Whether all went.
static bool command(const char *lines, size_t length)
{
    bool went = true;
    for (int32_t board = 0; board < ff_built_for.boards; board++) {
        const char *begin;
        size_t own = ff_lines_of(&ff_built_for, lines, length, board, &begin);
        went = send(*DRIVERS[board], begin, own) && went;
    }
    return went;
}

static bool light(uint32_t now_us)
{
    if (program.on)
        return (now_us >> 17) & 1; // every 0.26 s
    if (program.watchdog_tripped)
        return (now_us >> 20) & 1; // every 2.1 s
    return true;
}

static void hold_in_reset()
{
    // 0 A is the last word: again until the ports have taken it, then once a period, so that one that is garbled on its way is not.
    uint32_t told_us = micros();
    bool told = false;
    int tries = 0;
    digitalWrite(LIGHT_PIN, LOW);
    do {
        uint32_t now_us = micros();
        if (told && now_us - told_us < (uint32_t)ff_built_for.gains.period_us)
            continue;
        told_us = now_us;
        told = command(sent.to_driver, ff_zero_lines(&ff_built_for, sent.to_driver));
    } while (digitalRead(RESET_PIN) == LOW || (!told && tries++ < MOST_TRIES));
    for (int bytes = HIGH_LEVEL.available(); bytes > 0; bytes--)
        HIGH_LEVEL.read(); // said to a program that was not running
    ff_mid_start(&program, &ff_built_for);
}

void loop()
{
    if (digitalRead(RESET_PIN) == LOW)
        hold_in_reset();
    uint32_t now_us = micros();
    for (int bytes = 0; bytes < MOST_BYTES && HIGH_LEVEL.available() > 0; bytes++)
        ff_mid_receive(&program, (uint8_t)HIGH_LEVEL.read(), now_us);
    ff_mid_step(&program, now_us, &sent);
    command(sent.to_driver, sent.to_driver_length);
    send(HIGH_LEVEL, sent.to_high, sent.to_high_length);
    digitalWrite(LIGHT_PIN, light(now_us) ? HIGH : LOW);
}
