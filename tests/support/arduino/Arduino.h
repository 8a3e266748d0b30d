/* As much of Arduino's interface as the sketch uses, on queues of bytes that a test fills and empties. */
#pragma once
#include <deque>
#include <stddef.h>
#include <stdint.h>

enum { LOW, HIGH };
enum { OUTPUT, INPUT_PULLUP };
#define LED_BUILTIN 13

struct Print {
    virtual int availableForWrite() { return 0; }
    virtual size_t write(const uint8_t *bytes, size_t length) = 0;
    virtual ~Print() {}
};

struct FakeLine : Print {
    std::deque<uint8_t> arrived, sent;
    uint32_t baud = 0;
    int room = 64; /* of a Teensy's transmit buffer */
    int busy = 0;  /* how often it is still asked in vain */
    void begin(uint32_t rate) { baud = rate; }
    int available() { return (int)arrived.size(); }
    int read()
    {
        int byte = arrived.front();
        arrived.pop_front();
        return byte;
    }
    int availableForWrite() override { return busy > 0 ? (busy--, 0) : room; }
    size_t write(const uint8_t *bytes, size_t length) override
    {
        sent.insert(sent.end(), bytes, bytes + length);
        return length;
    }
};

typedef FakeLine HardwareSerial;
extern FakeLine Serial, Serial1, Serial2;
void pinMode(uint8_t pin, uint8_t mode);
int digitalRead(uint8_t pin);
void digitalWrite(uint8_t pin, uint8_t level);
uint32_t micros();
