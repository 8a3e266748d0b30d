/* Frames <field,field,...*HH>: what may stand in one, how it is read, how it is written. Python: footfall/machines/control/framing.py. */
#ifndef FF_FRAMING_H
#define FF_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FF_LONGEST_PAYLOAD 48 /* bytes between '<' and '*' or '>' */
#define FF_MOST_FIELDS 4
#define FF_FRAME_DECIMALS 6
#define FF_LONGEST_REPORT 23 /* '<', one number, "*HH", '>' */
#define FF_REQUEST 'e'       /* all that stands in the frame that asks for the fingerprint */

struct ff_field {
    double limit; /* largest size */
    int32_t flag; /* it is '0' or '1' and nothing else */
};

struct ff_format {
    struct ff_field fields[FF_MOST_FIELDS];
    int32_t count;
    int32_t checksum; /* every frame carries *HH; or none does */
};

enum ff_reader_state { FF_IDLE, FF_PAYLOAD, FF_TAIL };

struct ff_reader {
    uint32_t accepted; /* frames so far */
    uint32_t rejected; /* frames begun and not accepted, so far */
    uint32_t requests; /* so far; neither accepted nor rejected */
    enum ff_reader_state state;
    uint8_t length, tail_length;
    char payload[FF_LONGEST_PAYLOAD + 1]; /* room for a terminating 0 */
    char tail[2];
};

void ff_reader_start(struct ff_reader *reader);

/* Takes one byte. True if it completed a valid frame, whose values are then in `values`; otherwise `values` may hold anything. */
bool ff_reader_take(struct ff_reader *reader, const struct ff_format *format, uint8_t byte, double values[FF_MOST_FIELDS]);

/* Writes the frame of one number; returns its length, at most FF_LONGEST_REPORT. */
size_t ff_write_frame(bool checksum, float value, char *text);

/* Makes a frame of a payload of `length` bytes that stands at text + 1; returns its length. */
size_t ff_frame(bool checksum, size_t length, char *text);

#endif
