/*
 * mpress: lossless run-time compression of MPI messages. The interface for C99 and C++.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Compile and link with `pkg-config --cflags --libs mpress`.
 *
 * There are two layers, each usable without the other:
 *
 * - The engine (mpress_engine_*), for MPI layers: message in, frame out; frame in, message out. It
 *   decides message by message whether and how to compress, and counts what that gained. The
 *   processes of a job first agree on a mark (mpress_handshake_*). By it they tell frames from
 *   messages that were sent as they are.
 * - The codecs (mpress_codec_*): encode and decode by the name of the codec.
 *
 * Errors: functions return an mpress_status, 0 for success. mpress_last_error gives the text of the
 * last error of the thread. No panic leaves the library: it is caught and becomes
 * MPRESS_STATUS_INTERNAL, and Rust prints one message about it on stderr. Where there is no memory
 * for a frame, the message is sent as it is. Where there is none for a small object, the process
 * is aborted, as in any Rust program.
 *
 * Ownership: what a function makes (`*codec`, `*settings`, `*engine`, `*frame`, `*text`) belongs to
 * the caller, who frees it once by the function that the description names. After an error such a
 * pointer is NULL. Texts that are returned as `const char *` belong to the library. The library
 * keeps no pointer to an argument after the call.
 *
 * Pointers: NULL is an error (MPRESS_STATUS_ARGUMENT) unless the description allows it. For memory
 * of length 0, NULL is allowed everywhere. Other pointers must be valid, as each function says.
 * All lengths are in bytes, except where they count numbers.
 *
 * Threads: any function may be called by any thread at any time, also with the same handle. The
 * exceptions are the functions that free: no other call may be using what is freed.
 */

#ifndef MPRESS_H
#define MPRESS_H

/* Made by cbindgen from capi/src. Do not edit. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * How many numbers each process contributes to the handshake.
 */
#define MPRESS_HANDSHAKE_LEN 6

/**
 * How many bytes a mark has.
 */
#define MPRESS_MARK_LEN 8

/**
 * What came of a call. The text of an error is given by mpress_last_error.
 */
typedef enum mpress_status {
    /**
     * Success.
     */
    MPRESS_STATUS_OK = 0,
    /**
     * An argument is NULL where it must not be, or out of its range.
     */
    MPRESS_STATUS_ARGUMENT = 1,
    /**
     * A setting is unknown, has a wrong value, or names a file that cannot be used.
     */
    MPRESS_STATUS_SETTINGS = 2,
    /**
     * No codec has this name, or it is not made for this element kind.
     */
    MPRESS_STATUS_CODEC = 3,
    /**
     * The memory for the result is too small. The length that is needed has been stored.
     */
    MPRESS_STATUS_ROOM = 4,
    /**
     * The frame or the encoded message is damaged.
     */
    MPRESS_STATUS_DAMAGED = 5,
    /**
     * The frame was made by a codec or in a way that this library does not support.
     */
    MPRESS_STATUS_UNSUPPORTED = 6,
    /**
     * The processes of the job have different versions or settings, or wrong ones.
     */
    MPRESS_STATUS_DISAGREEMENT = 7,
    /**
     * An error in this library itself (a panic that was caught). Please report it.
     */
    MPRESS_STATUS_INTERNAL = 8,
} mpress_status;

/**
 * What the elements of a message are. It decides how well a codec does, never whether the bytes
 * come back exactly.
 */
typedef enum mpress_kind {
    /**
     * Bytes without a known structure: packed or mixed data.
     */
    MPRESS_KIND_OTHER = 0,
    /**
     * Integers of 8 bits, and characters.
     */
    MPRESS_KIND_INT8 = 1,
    /**
     * Integers of 16 bits.
     */
    MPRESS_KIND_INT16 = 2,
    /**
     * Integers of 32 bits.
     */
    MPRESS_KIND_INT32 = 3,
    /**
     * Integers of 64 bits.
     */
    MPRESS_KIND_INT64 = 4,
    /**
     * IEEE 754 floats of 32 bits, single or in pairs (complex).
     */
    MPRESS_KIND_F32 = 5,
    /**
     * IEEE 754 floats of 64 bits, single or in pairs (complex).
     */
    MPRESS_KIND_F64 = 6,
} mpress_kind;

/**
 * Where a message goes.
 */
typedef enum mpress_destination {
    /**
     * To a process that shares memory with this one. By default such messages are not compressed.
     */
    MPRESS_DESTINATION_SAME_NODE = 0,
    /**
     * To a process on another node.
     */
    MPRESS_DESTINATION_OTHER_NODE = 1,
} mpress_destination;

/**
 * The forms of a report.
 */
typedef enum mpress_report_form {
    /**
     * Text: the totals, and what was saved.
     */
    MPRESS_REPORT_FORM_SUMMARY = 1,
    /**
     * Text: everything that was counted.
     */
    MPRESS_REPORT_FORM_FULL = 2,
    /**
     * JSON, for the command `mpress report`.
     */
    MPRESS_REPORT_FORM_JSON = 3,
} mpress_report_form;

/**
 * A codec for messages of one element kind: an encoder and a decoder. Calls that use the same one
 * at the same time wait for each other, so give each thread its own.
 */
typedef struct mpress_codec mpress_codec;

/**
 * Compresses messages and counts what that gained. One per process, for all its threads.
 */
typedef struct mpress_engine mpress_engine;

/**
 * A message in the form in which it is sent compressed.
 */
typedef struct mpress_frame mpress_frame;

/**
 * Settings for engines. They are those of docs/settings.md of the project, by their environment
 * variables' names.
 */
typedef struct mpress_settings mpress_settings;

/**
 * What one engine has counted, over all messages so far.
 */
typedef struct mpress_stats {
    /**
     * Messages that mpress_engine_encode was called for.
     */
    uint64_t messages;
    /**
     * Their bytes before compression.
     */
    uint64_t raw_bytes;
    /**
     * Their bytes as they are sent: those of the frame, or of the message as it is.
     */
    uint64_t wire_bytes;
    /**
     * Nanoseconds spent in encoding.
     */
    uint64_t encode_ns;
    /**
     * Frames decoded.
     */
    uint64_t decoded;
    /**
     * Bytes of the messages in them.
     */
    uint64_t decoded_bytes;
    /**
     * Nanoseconds spent in decoding.
     */
    uint64_t decode_ns;
} mpress_stats;

/**
 * The job that a report is about.
 */
typedef struct mpress_job {
    /**
     * The name of the program, in UTF-8; NULL if it is not known.
     */
    const char *program;
    /**
     * Processes.
     */
    uint64_t ranks;
    /**
     * Nodes.
     */
    uint64_t nodes;
    /**
     * Seconds from its start to its end.
     */
    double seconds;
} mpress_job;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * What an mpress_status means, in a few words. `status` may be any number. The text is static:
 * never NULL, not to be freed.
 */
const char *mpress_status_text(int status);

/**
 * The version of this library, such as "0.1.0". The text is static: not to be freed.
 */
const char *mpress_version(void);

/**
 * The text of the last error of this thread: one line, "" if there was none. A call that succeeds
 * does not change it.
 *
 * The text belongs to the library and is valid until the next error of the same thread, or the end
 * of the thread. Never NULL.
 */
const char *mpress_last_error(void);

/**
 * The name of a codec of this library, by its index from 0; NULL from the number of codecs on. So
 * a loop until NULL lists all. docs/codecs.md of the project says what each is good for.
 *
 * The text is static: not to be freed. Thread-safe.
 */
const char *mpress_codec_name(size_t index);

/**
 * Makes a codec: `name` is one of mpress_codec_name, `kind` an mpress_kind. `*codec` is to be
 * freed by mpress_codec_free; on an error it is NULL. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_CODEC if there is no codec of this name, or none of this name for this kind.
 * MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `name` is NULL or a text that ends in a zero byte; `codec` is NULL or writable.
 */
enum mpress_status mpress_codec_new(const char *name, int kind, struct mpress_codec **codec);

/**
 * Stores in `*len` how many bytes of memory mpress_codec_encode needs for a message of `raw_len`
 * bytes. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT, also if `raw_len` is so large that there can be no such memory.
 *
 * Requires:
 * `codec` is NULL or a codec that was not freed; `len` is NULL or writable.
 */
enum mpress_status mpress_codec_max_encoded_len(const struct mpress_codec *codec,
                                                size_t raw_len,
                                                size_t *len);

/**
 * Encodes the `raw_len` bytes at `raw` into the memory of `room` bytes at `wire`, and stores in
 * `*len` how many bytes that took. They can be more than `raw_len`, if the message does not
 * compress. `room` must be at least what mpress_codec_max_encoded_len says. The memory must not
 * overlap the message.
 *
 * Some codecs remember from message to message what worked, so equal messages may give different
 * bytes. All can be decoded in any order. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ROOM if `room` is too small: `*len` is the room that is needed, nothing was
 * written. MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `codec` is NULL or a codec that was not freed. `raw` is readable for `raw_len` bytes and `wire`
 * writable for `room` bytes; either may be NULL if its length is 0. `len` is NULL or writable.
 */
enum mpress_status mpress_codec_encode(const struct mpress_codec *codec,
                                       const void *raw,
                                       size_t raw_len,
                                       void *wire,
                                       size_t room,
                                       size_t *len);

/**
 * Decodes the `wire_len` bytes at `wire` into the `raw_len` bytes at `raw`. `raw_len` must be the
 * length of the message: an encoded message does not carry it. The memory must not overlap the
 * encoded message.
 *
 * The encoded message may hold anything: there is an error, or all of `raw` is written. A codec
 * notices damage only where it leads to something that no encoder writes, so other damage gives
 * other bytes. Frames (mpress_engine_decode) have a checksum. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_DAMAGED or MPRESS_STATUS_UNSUPPORTED if it is not the encoded form of a message of
 * this length; what is at `raw` then is undefined. MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `codec` is NULL or a codec that was not freed. `wire` is readable for `wire_len` bytes and `raw`
 * writable for `raw_len` bytes; either may be NULL if its length is 0.
 */
enum mpress_status mpress_codec_decode(const struct mpress_codec *codec,
                                       const void *wire,
                                       size_t wire_len,
                                       void *raw,
                                       size_t raw_len);

/**
 * Frees a codec. NULL is allowed. No other call may be using it.
 */
void mpress_codec_free(struct mpress_codec *codec);

/**
 * Makes settings that are all at their defaults. `*settings` is to be freed by
 * mpress_settings_free. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `settings` is NULL or writable.
 */
enum mpress_status mpress_settings_new(struct mpress_settings **settings);

/**
 * Makes settings from the environment variables whose names begin with MPRESS_, and the file that
 * MPRESS_CONFIG names, if it is set. Variables take precedence over the file. `*settings` is to be
 * freed by mpress_settings_free; on an error it is NULL.
 *
 * Thread-safe, as long as no other thread changes the environment meanwhile.
 *
 * Errors:
 * MPRESS_STATUS_SETTINGS if a variable or a key of the file is unknown or has a wrong value, or
 * the file cannot be read. MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `settings` is NULL or writable.
 */
enum mpress_status mpress_settings_from_env(struct mpress_settings **settings);

/**
 * Makes settings from a file in TOML (docs/settings.md of the project has the keys). `*settings`
 * is to be freed by mpress_settings_free; on an error it is NULL. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_SETTINGS if the file cannot be read, or a key of it is unknown or has a wrong
 * value. MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `path` is NULL or a text that ends in a zero byte; `settings` is NULL or writable.
 */
enum mpress_status mpress_settings_from_file(const char *path, struct mpress_settings **settings);

/**
 * Sets one of them, as if the environment variable `name` (such as "MPRESS_STRATEGY") had this
 * value; "" is the default. It takes precedence over a file, also if that is named later. Engines
 * that were made before do not change. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_SETTINGS if the name is unknown or the value wrong; the settings stay as they
 * were. MPRESS_GUIDE must be set before MPRESS_STRATEGY is set to "guided".
 * MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `settings` is NULL or not freed yet; `name` and `value` are NULL or texts that end in a zero
 * byte.
 */
enum mpress_status mpress_settings_set(const struct mpress_settings *settings,
                                       const char *name,
                                       const char *value);

/**
 * Stores in `*text` all settings in the form of a file of settings (TOML). `*text` is to be freed
 * by mpress_text_free; on an error it is NULL. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `settings` is NULL or not freed yet; `text` is NULL or writable.
 */
enum mpress_status mpress_settings_text(const struct mpress_settings *settings, char **text);

/**
 * Frees settings. NULL is allowed. No other call may be using them; engines that were made with
 * them are not.
 */
void mpress_settings_free(struct mpress_settings *settings);

/**
 * Frees a text that a function of this library has stored. NULL is allowed.
 *
 * Requires:
 * `text` is NULL or such a text, and was not freed before.
 */
void mpress_text_free(char *text);

/**
 * The first half of the handshake of a job: stores at `numbers` what this process contributes,
 * MPRESS_HANDSHAKE_LEN numbers. All processes must take the minimum of each number over all of
 * them (an MPI_Allreduce with MPI_UINT64_T and MPI_MIN), and give the minima to
 * mpress_handshake_mark.
 *
 * A process whose settings are wrong takes part with `settings` NULL: then there is no mark, and
 * no process compresses. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `settings` is NULL or not freed yet; `numbers` is NULL or writable for MPRESS_HANDSHAKE_LEN
 * numbers.
 */
enum mpress_status mpress_handshake_numbers(const struct mpress_settings *settings,
                                            uint64_t *numbers);

/**
 * The second half: stores at `mark` the MPRESS_MARK_LEN bytes by which the processes of this job
 * know their frames, if all of them have the same version and settings. `minima` are the
 * MPRESS_HANDSHAKE_LEN minima over all processes. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_DISAGREEMENT if the processes differ: the same in all of them. No process may send
 * frames then. MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `minima` is NULL or readable for MPRESS_HANDSHAKE_LEN numbers; `mark` is NULL or writable for
 * MPRESS_MARK_LEN bytes.
 */
enum mpress_status mpress_handshake_mark(const uint64_t *minima, uint8_t *mark);

/**
 * Makes an engine with these settings, or with the defaults if `settings` is NULL. It reads the
 * files that the settings name. `mark` is that of the job (mpress_handshake_mark). If `mark` is
 * NULL the engine takes a fixed one; that is for tests, since a message that has these bytes at
 * its start would be taken for a frame. `*engine` is to be freed by mpress_engine_free; on an
 * error it is NULL. Thread-safe.
 *
 * The engine takes the network for one of 1 Gbit/s until it knows better: from MPRESS_HEURISTICS,
 * mpress_engine_set_link or mpress_engine_waited.
 *
 * With the strategy adaptive an engine has trials by the clock, unless MPRESS_CLOCK is off: from a
 * second after this call on, now and then all messages go as they are for 125 ms, to see whether
 * compression gains anything; where it does not, all do. So make the engines of all processes at
 * the same time, best right after the handshake.
 *
 * Errors:
 * MPRESS_STATUS_SETTINGS if a file that MPRESS_HEURISTICS or MPRESS_GUIDE names cannot be used.
 * MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `settings` is NULL or not freed yet; `mark` is NULL or readable for MPRESS_MARK_LEN bytes;
 * `engine` is NULL or writable.
 */
enum mpress_status mpress_engine_new(const struct mpress_settings *settings,
                                     const uint8_t *mark,
                                     struct mpress_engine **engine);

/**
 * Says what is known of the network: the latency in microseconds, and the bandwidth that one
 * process gets while the others send too, in MB/s (10^6 bytes per second). Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT, also if no network is like that: the latency must be from 0 to 10^7, the
 * bandwidth from 0.001 to 10^7.
 */
enum mpress_status mpress_engine_set_link(const struct mpress_engine *engine,
                                          double latency_us,
                                          double bandwidth_mb_s);

/**
 * Says that this process waited for `nanoseconds`, in calls that did nothing else, while frames of
 * `sent` bytes went to other nodes and frames of `received` bytes came from there. Count only
 * frames of 32 KiB or more: shorter ones wait for other things than bandwidth. The adaptive
 * strategy learns from this how fast the network is. Optional. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT.
 */
enum mpress_status mpress_engine_waited(const struct mpress_engine *engine,
                                        size_t sent,
                                        size_t received,
                                        uint64_t nanoseconds);

/**
 * Makes the frame of a message of `len` bytes. `kind` is an mpress_kind, `to` an
 * mpress_destination.
 *
 * `*frame` is NULL, with success, if the message is to be sent as it is: it is short, does not get
 * smaller, or the strategy says so, which may be for a moment only (mpress_engine_new). Else send the bytes of mpress_frame_bytes in its place, and
 * free the frame by mpress_frame_free when they have been sent. A frame is always shorter than its
 * message, so it fits wherever the message is received. On an error `*frame` is NULL, too.
 * Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `engine` is NULL or not freed yet; `message` is readable for `len` bytes, or NULL if `len` is 0;
 * `frame` is NULL or writable.
 */
enum mpress_status mpress_engine_encode(const struct mpress_engine *engine,
                                        const void *message,
                                        size_t len,
                                        int kind,
                                        int to,
                                        struct mpress_frame **frame);

/**
 * Stores in `*data` and `*len` where the bytes of a frame are and how many. They belong to the
 * frame, and are valid until it is freed. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT; `*data` is NULL and `*len` 0 then.
 *
 * Requires:
 * `frame` is NULL or not freed yet; `data` and `len` are NULL or writable.
 */
enum mpress_status mpress_frame_bytes(const struct mpress_frame *frame,
                                      const void **data,
                                      size_t *len);

/**
 * Frees a frame, also after its engine. NULL is allowed. Nothing may be reading its bytes.
 */
void mpress_frame_free(struct mpress_frame *frame);

/**
 * Whether a frame can have this length, in bytes. What has another length is a message as it is,
 * and need not be looked at. Thread-safe.
 */
bool mpress_may_be_frame(size_t len);

/**
 * Stores in `*is_frame` whether the `len` bytes that were received are a frame of this job, or
 * what damage has left of one. Else they are the message itself. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT; `*is_frame` is false then.
 *
 * Requires:
 * `engine` is NULL or not freed yet; `received` is readable for `len` bytes, or NULL if `len` is
 * 0; `is_frame` is NULL or writable.
 */
enum mpress_status mpress_engine_is_frame(const struct mpress_engine *engine,
                                          const void *received,
                                          size_t len,
                                          bool *is_frame);

/**
 * Checks a frame, and stores in `*message_len` how many bytes the message in it has. That is what
 * the frame says: up to 2^48 - 1, whatever the length of the frame. So compare it with what can
 * come before you allocate so much. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_DAMAGED if it is no whole frame of this job, MPRESS_STATUS_UNSUPPORTED,
 * MPRESS_STATUS_ARGUMENT; `*message_len` is 0 then.
 *
 * Requires:
 * `engine` is NULL or not freed yet; `frame` is readable for `len` bytes, or NULL if `len` is 0;
 * `message_len` is NULL or writable.
 */
enum mpress_status mpress_engine_message_len(const struct mpress_engine *engine,
                                             const void *frame,
                                             size_t len,
                                             size_t *message_len);

/**
 * Decodes a frame of `len` bytes into the memory of `room` bytes at `message`, and stores in
 * `*message_len` how many bytes the message has. More room than that is not touched. The memory
 * must not overlap the frame.
 *
 * The frame may hold anything: there is an error, or the message that was sent, up to what a
 * CRC-32 does not notice. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ROOM if the message is longer than `room`: `*message_len` is its length, nothing
 * was written. MPRESS_STATUS_DAMAGED if it is no whole frame of this job,
 * MPRESS_STATUS_UNSUPPORTED if this library lacks its codec, MPRESS_STATUS_ARGUMENT; what is at
 * `message` then is undefined.
 *
 * Requires:
 * `engine` is NULL or not freed yet. `frame` is readable for `len` bytes and `message` writable
 * for `room` bytes; either may be NULL if its length is 0. `message_len` is NULL or writable.
 */
enum mpress_status mpress_engine_decode(const struct mpress_engine *engine,
                                        const void *frame,
                                        size_t len,
                                        void *message,
                                        size_t room,
                                        size_t *message_len);

/**
 * Frees an engine. NULL is allowed. No other call may be using it; its frames stay valid.
 */
void mpress_engine_free(struct mpress_engine *engine);

/**
 * Stores in `*stats` what the engine has counted so far. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT; `*stats` is all zeros then.
 *
 * Requires:
 * `engine` is NULL or not freed yet; `stats` is NULL or writable.
 */
enum mpress_status mpress_engine_stats(const struct mpress_engine *engine,
                                       struct mpress_stats *stats);

/**
 * Stores all counters of the engine at `counters`, and in `*count` how many they are: always the
 * same number with the same library. For a report about a job, sum them over its processes,
 * element by element, with wrap-around (MPI_UINT64_T and MPI_SUM), and give the sums to
 * mpress_engine_report. With `counters` NULL and `room` 0 this gives the number alone, and the
 * code MPRESS_STATUS_ROOM. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ROOM if there is room for fewer: `*count` is the number, nothing was written.
 * MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `engine` is NULL or not freed yet; `counters` is writable for `room` numbers, or NULL if `room`
 * is 0; `count` is NULL or writable.
 */
enum mpress_status mpress_engine_counters(const struct mpress_engine *engine,
                                          uint64_t *counters,
                                          size_t room,
                                          size_t *count);

/**
 * Makes a report. `sums` are the `count` sums of mpress_engine_counters over all processes of the
 * job; if NULL, the report is about this process alone. `job` may be NULL: then it is called
 * "unknown", with one rank, one node, and the time since the engine was made. `form` is an
 * mpress_report_form. `*text` is to be freed by mpress_text_free; on an error it is NULL.
 * Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT, also if `count` is not what mpress_engine_counters gave, or the seconds
 * are negative or no number.
 *
 * Requires:
 * `engine` is NULL or not freed yet. `job` is NULL or readable, and its program NULL or a text
 * that ends in a zero byte. `sums` is NULL or readable for `count` numbers; `text` is NULL or
 * writable.
 */
enum mpress_status mpress_engine_report(const struct mpress_engine *engine,
                                        const struct mpress_job *job,
                                        const uint64_t *sums,
                                        size_t count,
                                        int form,
                                        char **text);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MPRESS_H */
