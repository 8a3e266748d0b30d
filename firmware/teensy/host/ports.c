#define _GNU_SOURCE
#include "ports.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static void give_up(const char *path, const char *what)
{
    fprintf(stderr, "footfall-mid: %s %s: %s\n", path, what, strerror(errno));
    exit(1);
}

static void make_raw(int file, const char *path, bool real)
{
    struct termios mode;
    if (tcgetattr(file, &mode) != 0)
        give_up(path, "is not a serial port");
    cfmakeraw(&mode);
    mode.c_cflag |= CLOCAL | CREAD;
    mode.c_cflag &= ~(tcflag_t)HUPCL; /* closing must not pull DTR, which resets some boards */
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
    if (real && (cfsetispeed(&mode, B460800) != 0 || cfsetospeed(&mode, B460800) != 0))
        give_up(path, "does not do 460800 baud");
    if (tcsetattr(file, TCSANOW, &mode) != 0)
        give_up(path, "cannot be made raw");
}

/* fd:N or fd:N,M: an end of a socket pair, and perhaps its other, open already. */
static bool is_socket(const char *where, struct line *line)
{
    *line = (struct line){.file = -1, .held = -1};
    if (sscanf(where, "fd:%d,%d", &line->file, &line->held) < 1)
        return false;
    if (fcntl(line->file, F_SETFL, O_NONBLOCK) != 0)
        give_up(where, "is no open socket");
    return true;
}

static struct line open_serial_port(const char *path)
{
    struct line line = {.file = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC), .held = -1};
    if (line.file < 0)
        give_up(path, "cannot be opened");
    if (flock(line.file, LOCK_EX | LOCK_NB) != 0)
        give_up(path, "is in use by another program");
    make_raw(line.file, path, true);
    return line;
}

static struct line open_pseudo_terminal(const char *path)
{
    struct line line = {.file = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC), .held = -1};
    if (line.file < 0 || grantpt(line.file) != 0 || unlockpt(line.file) != 0 ||
        ptsname_r(line.file, line.target, sizeof line.target) != 0)
        give_up(path, "cannot be made a pseudo-terminal");
    line.held = open(line.target, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (line.held < 0)
        give_up(line.target, "cannot be opened");
    make_raw(line.held, path, false);
    struct stat found;
    if (lstat(path, &found) == 0 && S_ISLNK(found.st_mode))
        unlink(path); /* of a run that was killed */
    if (symlink(line.target, path) != 0)
        give_up(path, "cannot be made a link");
    return line;
}

struct line open_port(const char *where)
{
    struct line line;
    return is_socket(where, &line) ? line : open_serial_port(where);
}

struct line open_device(const char *where)
{
    struct line line;
    return is_socket(where, &line) ? line : open_pseudo_terminal(where);
}

void close_device(struct line *line, const char *where)
{
    char target[sizeof line->target];
    ssize_t length = readlink(where, target, sizeof target);
    if (length > 0 && length == (ssize_t)strlen(line->target) && memcmp(target, line->target, (size_t)length) == 0)
        unlink(where); /* still ours */
    close(line->held);
    close(line->file);
}

size_t read_line(struct line *line, uint8_t *bytes, size_t room)
{
    ssize_t length = read(line->file, bytes, room);
    return length > 0 ? (size_t)length : 0; /* nothing yet, or nobody there: a Teensy cannot tell either */
}

static bool finish(struct line *line)
{
    if (line->left == 0)
        return true;
    ssize_t taken = write(line->file, line->rest, line->left);
    if (taken > 0) {
        line->left -= (size_t)taken;
        memmove(line->rest, line->rest + taken, line->left);
    }
    return line->left == 0;
}

void write_line(struct line *line, const char *bytes, size_t length)
{
    if (length == 0 || !finish(line))
        return;
    ssize_t taken = write(line->file, bytes, length);
    if (taken > 0 && (size_t)taken < length && length - (size_t)taken <= sizeof line->rest) {
        line->left = length - (size_t)taken;
        memcpy(line->rest, bytes + taken, line->left);
    }
}

struct reset_pin open_reset_pin(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat found;
    if (file < 0 || fstat(file, &found) != 0)
        give_up(path, "cannot be opened");
    if (found.st_size != 1 && (ftruncate(file, 0) != 0 || pwrite(file, "1", 1, 0) != 1))
        give_up(path, "cannot be written");
    return (struct reset_pin){.file = file};
}

bool is_low(const struct reset_pin *pin)
{
    /* Read, not mapped: whoever cuts the file short would end a program that has it mapped. */
    char level = '1';
    return pread(pin->file, &level, 1, 0) == 1 && level == '0';
}
