// The mid level of footfall's control stack on a Teensy: ports around the program in src/, which also runs on a PC.
// Wiring, flashing, and what was not tried: ../README.md

extern "C" {
#include "src/mid.h"
}

// The high level: USB, which a Teensy starts by itself. Serial.begin() would only wait up to two seconds for somebody to listen, and the
// motors must be told to stand still meanwhile.
#define HIGH_LEVEL Serial

// The motor driver: pin 1 (TX1) to the ODrive's RX. Two lines of at most 14 bytes every millisecond are 28 kB/s; ten bits a byte makes
// 280 kbit/s, so 115200 baud is not enough and 460800 leaves 40 % in hand. Set the ODrive's UART to the same.
#define DRIVER Serial1
static const uint32_t DRIVER_BAUD = 460800;

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
    DRIVER.begin(DRIVER_BAUD);
    ff_mid_start(&program, &ff_built_for);
}

// A message goes out whole or not at all: waiting for room would stop the law, and half a line of one command and half of another
// would be a third command.
static void send(Print &line, const char *bytes, size_t length)
{
    if (length != 0 && (size_t)line.availableForWrite() >= length)
        line.write((const uint8_t *)bytes, length);
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
    send(DRIVER, sent.to_driver, ff_zero_lines(&ff_built_for, sent.to_driver));
    digitalWrite(LIGHT_PIN, LOW);
    while (digitalRead(RESET_PIN) == LOW) {
    }
    while (HIGH_LEVEL.available() > 0)
        HIGH_LEVEL.read(); // said to a program that was not running
    ff_mid_start(&program, &ff_built_for);
}

void loop()
{
    if (digitalRead(RESET_PIN) == LOW)
        hold_in_reset();
    uint32_t now_us = micros();
    while (HIGH_LEVEL.available() > 0)
        ff_mid_receive(&program, (uint8_t)HIGH_LEVEL.read(), now_us);
    ff_mid_step(&program, now_us, &sent);
    send(DRIVER, sent.to_driver, sent.to_driver_length);
    send(HIGH_LEVEL, sent.to_high, sent.to_high_length);
    digitalWrite(LIGHT_PIN, light(now_us) ? HIGH : LOW);
}
