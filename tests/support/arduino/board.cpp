/* A board in memory, and handles on it for ctypes. */
#include "Arduino.h"

FakeLine Serial, Serial1, Serial2;
static uint32_t now_us;
static int low_reads; /* how often the reset pin still reads low */
static int lit;
static int modes[64];

void pinMode(uint8_t pin, uint8_t mode) { modes[pin] = mode; }
int digitalRead(uint8_t) { return low_reads > 0 ? (low_reads--, LOW) : HIGH; }
void digitalWrite(uint8_t pin, uint8_t level)
{
    if (pin == LED_BUILTIN)
        lit = level;
}
uint32_t micros() { return now_us; }

void setup();
void loop();

static FakeLine &line(int which) { return which == 0 ? Serial : which == 1 ? Serial1 : Serial2; }

extern "C" {
void board_setup() { setup(); }
void board_loop(uint32_t at_us)
{
    now_us = at_us;
    loop();
}
void board_hold_reset(int reads) { low_reads = reads; }
void board_give(const uint8_t *bytes, size_t length) { Serial.arrived.insert(Serial.arrived.end(), bytes, bytes + length); }
size_t board_take(int which, uint8_t *bytes)
{
    size_t length = 0;
    for (uint8_t byte : line(which).sent)
        bytes[length++] = byte;
    line(which).sent.clear();
    return length;
}
void board_fill(int which, int room) { line(which).room = room; }
void board_be_busy(int which, int looks) { line(which).busy = looks; }
int board_waiting() { return (int)Serial.arrived.size(); }
uint32_t board_baud(int which) { return line(which).baud; }
int board_light() { return lit; }
}
