/* The core on an emulated chip: steps from one file, what it sent into another. Files reach the emulator's host by semihosting.
 *
 * A step is the time (4 bytes, least first), a count (1 byte) and so many bytes from the high level; 255 stands for a reset. For each
 * step the two lengths (1 byte each) and the bytes sent. */
#include "mid.h"

#include <stdio.h>

int main(void)
{
    static struct ff_mid mid;
    static struct ff_sent sent;
    FILE *steps = fopen("steps.bin", "rb"), *out = fopen("sent.bin", "wb");
    uint8_t head[5], data[254];
    if (steps == NULL || out == NULL)
        return 1;
    ff_mid_start(&mid, &ff_built_for);
    while (fread(head, 1, sizeof head, steps) == sizeof head) {
        uint32_t now = head[0] | (uint32_t)head[1] << 8 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 24;
        uint8_t count = head[4];
        if (count == 255)
            ff_mid_start(&mid, &ff_built_for);
        else if (fread(data, 1, count, steps) != count)
            return 2;
        for (uint8_t k = 0; count != 255 && k < count; k++)
            ff_mid_receive(&mid, data[k], now);
        ff_mid_step(&mid, now, &sent);
        fwrite(&sent.to_high_length, 1, 1, out);
        fwrite(&sent.to_driver_length, 1, 1, out);
        fwrite(sent.to_high, 1, sent.to_high_length, out);
        fwrite(sent.to_driver, 1, sent.to_driver_length, out);
    }
    return fclose(out);
}
