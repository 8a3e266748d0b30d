#include "framing.h"

#include "decimal_text.h"

#include <math.h>
#include <string.h>

static const char HEX[] = "0123456789ABCDEF";

static uint8_t exclusive_or(const char *bytes, size_t count)
{
    uint8_t sum = 0;
    for (size_t k = 0; k < count; k++)
        sum ^= (uint8_t)bytes[k];
    return sum;
}

static bool among(uint8_t byte, const char *allowed)
{
    return byte != 0 && strchr(allowed, byte) != NULL;
}

void ff_reader_start(struct ff_reader *reader)
{
    memset(reader, 0, sizeof *reader);
}

/* Whether this byte may stand here. */
static bool collect(struct ff_reader *reader, const struct ff_format *format, uint8_t byte)
{
    if (reader->state == FF_TAIL) {
        if (!among(byte, HEX) || reader->tail_length == sizeof reader->tail)
            return false;
        reader->tail[reader->tail_length++] = (char)byte;
        return true;
    }
    if (byte == '*' && format->checksum) {
        reader->state = FF_TAIL;
        return true;
    }
    if (!among(byte, "0123456789+-.,eE") || reader->length == FF_LONGEST_PAYLOAD)
        return false;
    reader->payload[reader->length++] = (char)byte;
    return true;
}

static bool read_field(const struct ff_field *field, const char *text, double *value)
{
    if (field->flag) {
        *value = text[0] == '1';
        return (text[0] == '0' || text[0] == '1') && text[1] == '\0';
    }
    return ff_number(text, value) && fabs(*value) <= field->limit;
}

static bool checksum_is_right(const struct ff_reader *reader)
{
    uint8_t sum = exclusive_or(reader->payload, reader->length);
    return reader->tail_length == 2 && reader->tail[0] == HEX[sum >> 4] && reader->tail[1] == HEX[sum & 15];
}

static bool is_whole(const struct ff_reader *reader, const struct ff_format *format)
{
    return !format->checksum || checksum_is_right(reader);
}

static bool is_request(const struct ff_reader *reader, const struct ff_format *format)
{
    return reader->length == 1 && reader->payload[0] == FF_REQUEST && is_whole(reader, format);
}

static bool read_payload(struct ff_reader *reader, const struct ff_format *format, double *values)
{
    if (!is_whole(reader, format))
        return false;
    reader->payload[reader->length] = '\0';
    char *text = reader->payload;
    for (int32_t k = 0; k < format->count; k++) {
        char *comma = strchr(text, ',');
        if ((comma == NULL) != (k == format->count - 1)) /* too few fields, or too many */
            return false;
        if (comma != NULL)
            *comma = '\0';
        if (!read_field(&format->fields[k], text, &values[k]))
            return false;
        if (comma != NULL)
            text = comma + 1;
    }
    return true;
}

bool ff_reader_take(struct ff_reader *reader, const struct ff_format *format, uint8_t byte, double values[FF_MOST_FIELDS])
{
    if (byte == '<') {
        reader->rejected += reader->state != FF_IDLE;
        reader->state = FF_PAYLOAD;
        reader->length = reader->tail_length = 0;
    } else if (reader->state == FF_IDLE) {
        return false;
    } else if (byte == '>' && is_request(reader, format)) {
        reader->state = FF_IDLE;
        reader->requests++;
    } else if (byte == '>') {
        bool valid = read_payload(reader, format, values);
        reader->state = FF_IDLE;
        reader->accepted += valid;
        reader->rejected += !valid;
        return valid;
    } else if (!collect(reader, format, byte)) {
        reader->rejected++;
        reader->state = FF_IDLE;
    }
    return false;
}

size_t ff_write_frame(bool checksum, float value, char *text)
{
    return ff_frame(checksum, ff_fixed(value, FF_FRAME_DECIMALS, text + 1), text);
}

size_t ff_frame(bool checksum, size_t length, char *text)
{
    size_t end = 1 + length;
    text[0] = '<';
    if (checksum) {
        uint8_t sum = exclusive_or(text + 1, end - 1);
        text[end++] = '*';
        text[end++] = HEX[sum >> 4];
        text[end++] = HEX[sum & 15];
    }
    text[end++] = '>';
    return end;
}
