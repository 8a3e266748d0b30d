/* Lines of this machine in place of the Teensy's. Nothing here waits; what cannot be opened ends the program with words. */
#ifndef HOST_PORTS_H
#define HOST_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A serial line. Where it is full, a message is lost whole: half a line of one and half of another would be a third one. */
struct line {
    int file;
    int held;         /* of a device, the other end, held open: it does not break when nobody listens; else -1 */
    char target[64];  /* of a pseudo-terminal, its name */
    size_t left;      /* bytes of a message begun that did not fit yet */
    uint8_t rest[128];
};

struct reset_pin {
    int file; /* of one byte: '0' is low, anything else high */
};

struct line open_port(const char *where);   /* a serial port, or fd:N, a socket that was handed down */
struct line open_device(const char *where); /* a new pseudo-terminal of this name, or fd:N,M */
void close_device(struct line *line, const char *where);
size_t read_line(struct line *line, uint8_t *bytes, size_t room);
void write_line(struct line *line, const char *bytes, size_t length);

struct reset_pin open_reset_pin(const char *path);
bool is_low(const struct reset_pin *pin);

#endif
