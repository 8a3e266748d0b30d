/* For tests that load the core as a library: sizes of its structures, and what is in them. */
#include "mid.h"

#include <stddef.h>

size_t ff_size_of_settings(void) { return sizeof(struct ff_settings); }
size_t ff_size_of_gains(void) { return sizeof(struct ff_gains); }
size_t ff_size_of_memory(void) { return sizeof(struct ff_pid); }
size_t ff_size_of_format(void) { return sizeof(struct ff_format); }
size_t ff_size_of_reader(void) { return sizeof(struct ff_reader); }
size_t ff_size_of_mid(void) { return sizeof(struct ff_mid); }
size_t ff_size_of_sent(void) { return sizeof(struct ff_sent); }

uint32_t ff_accepted(const struct ff_reader *reader) { return reader->accepted; }
uint32_t ff_rejected(const struct ff_reader *reader) { return reader->rejected; }

const struct ff_reader *ff_reader_of(const struct ff_mid *mid) { return &mid->reader; }
bool ff_is_on(const struct ff_mid *mid) { return mid->on; }
bool ff_has_tripped(const struct ff_mid *mid) { return mid->watchdog_tripped; }
float ff_output(const struct ff_mid *mid) { return mid->memory.output; }
