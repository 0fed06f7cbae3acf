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
 * The number of numbers that each process contributes to the handshake.
 */
#define MPRESS_HANDSHAKE_LEN 134

/**
 * The length of a mark in bytes.
 */
#define MPRESS_MARK_LEN 8

/**
 * The result of a call. mpress_last_error returns the text of an error.
 */
typedef enum mpress_status {
    /**
     * Success.
     */
    MPRESS_STATUS_OK = 0,
    /**
     * An argument is NULL although it must not be, or out of range.
     */
    MPRESS_STATUS_ARGUMENT = 1,
    /**
     * A setting is unknown, has an invalid value, or names a file that cannot be used.
     */
    MPRESS_STATUS_SETTINGS = 2,
    /**
     * No codec has this name, or it does not support this element kind.
     */
    MPRESS_STATUS_CODEC = 3,
    /**
     * The memory for the result is too small. The required length has been stored.
     */
    MPRESS_STATUS_ROOM = 4,
    /**
     * The frame or the encoded message is damaged.
     */
    MPRESS_STATUS_DAMAGED = 5,
    /**
     * The frame uses a codec or a feature that this library does not support.
     */
    MPRESS_STATUS_UNSUPPORTED = 6,
    /**
     * The processes of the job have different versions or settings, or invalid ones.
     */
    MPRESS_STATUS_DISAGREEMENT = 7,
    /**
     * An error in this library itself (a caught panic). Please report it.
     */
    MPRESS_STATUS_INTERNAL = 8,
} mpress_status;

/**
 * The element kind of a message. It affects how well a codec compresses, never whether the bytes
 * are restored exactly.
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
 * The destination of a message.
 */
typedef enum mpress_destination {
    /**
     * A process that shares memory with this one. By default such messages are not compressed.
     */
    MPRESS_DESTINATION_SAME_NODE = 0,
    /**
     * A process on another node.
     */
    MPRESS_DESTINATION_OTHER_NODE = 1,
} mpress_destination;

/**
 * The formats of a report.
 */
typedef enum mpress_report_form {
    /**
     * Text: the totals and the savings.
     */
    MPRESS_REPORT_FORM_SUMMARY = 1,
    /**
     * Text: all statistics.
     */
    MPRESS_REPORT_FORM_FULL = 2,
    /**
     * JSON, for the command `mpress report`.
     */
    MPRESS_REPORT_FORM_JSON = 3,
} mpress_report_form;

/**
 * A codec for messages of one element kind: an encoder and a decoder. Concurrent calls that use
 * the same codec wait for each other, so give each thread its own.
 */
typedef struct mpress_codec mpress_codec;

/**
 * Compresses messages and counts the gain. One per process, for all its threads.
 */
typedef struct mpress_engine mpress_engine;

/**
 * A message in its compressed form for sending.
 */
typedef struct mpress_frame mpress_frame;

/**
 * Settings for engines: those of docs/settings.md of the project, by the names of their
 * environment variables.
 */
typedef struct mpress_settings mpress_settings;

/**
 * The statistics of one engine over all messages so far.
 */
typedef struct mpress_stats {
    /**
     * Messages for which mpress_engine_encode was called.
     */
    uint64_t messages;
    /**
     * Their bytes before compression.
     */
    uint64_t raw_bytes;
    /**
     * Their bytes as sent: those of the frame, or of the unchanged message.
     */
    uint64_t wire_bytes;
    /**
     * Nanoseconds spent encoding.
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
     * Nanoseconds spent decoding.
     */
    uint64_t decode_ns;
} mpress_stats;

/**
 * The job described by a report.
 */
typedef struct mpress_job {
    /**
     * The name of the program, in UTF-8; NULL if unknown.
     */
    const char *program;
    /**
     * Number of processes.
     */
    uint64_t ranks;
    /**
     * Number of nodes.
     */
    uint64_t nodes;
    /**
     * Duration in seconds.
     */
    double seconds;
} mpress_job;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the meaning of an mpress_status, in a few words. `status` may be any number. The text is
 * static: never NULL, do not free it.
 */
const char *mpress_status_text(int status);

/**
 * Returns the version of this library, such as "0.1.0". The text is static: do not free it.
 */
const char *mpress_version(void);

/**
 * Returns the text of the last error of this thread: one line, "" if there was none. Successful
 * calls do not change it.
 *
 * The text belongs to the library and is valid until the next error of the same thread, or the end
 * of the thread. Never NULL.
 */
const char *mpress_last_error(void);

/**
 * Returns the name of a codec of this library, by its index from 0; NULL if `index` is not below
 * the number of codecs. So a loop until NULL lists all. docs/codecs.md of the project describes
 * what each is good for.
 *
 * The text is static: do not free it. Thread-safe.
 */
const char *mpress_codec_name(size_t index);

/**
 * Creates a codec: `name` is a name from mpress_codec_name, `kind` an mpress_kind. Free `*codec`
 * with mpress_codec_free; on an error it is NULL. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_CODEC if there is no codec with this name, or it does not support this kind.
 * MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `name` is NULL or a zero-terminated string; `codec` is NULL or writable.
 */
enum mpress_status mpress_codec_new(const char *name, int kind, struct mpress_codec **codec);

/**
 * Stores in `*len` the number of bytes of memory that mpress_codec_encode needs for a message of
 * `raw_len` bytes. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT, also if `raw_len` is so large that no such memory can exist.
 *
 * Requires:
 * `codec` is NULL or not freed yet; `len` is NULL or writable.
 */
enum mpress_status mpress_codec_max_encoded_len(const struct mpress_codec *codec,
                                                size_t raw_len,
                                                size_t *len);

/**
 * Encodes the `raw_len` bytes at `raw` into the memory of `room` bytes at `wire`, and stores in
 * `*len` the number of bytes written. This can be more than `raw_len` if the message does not
 * compress. `room` must be at least the value from mpress_codec_max_encoded_len. The memory must
 * not overlap the message.
 *
 * Some codecs remember between messages what worked, so equal messages may give different bytes.
 * All can be decoded in any order. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ROOM if `room` is too small: `*len` is the required room; `wire` may be changed.
 * MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `codec` is NULL or not freed yet. `raw` is readable for `raw_len` bytes and `wire` writable for
 * `room` bytes; either may be NULL if its length is 0. `len` is NULL or writable.
 */
enum mpress_status mpress_codec_encode(const struct mpress_codec *codec,
                                       const void *raw,
                                       size_t raw_len,
                                       void *wire,
                                       size_t room,
                                       size_t *len);

/**
 * Decodes the `wire_len` bytes at `wire` into the `raw_len` bytes at `raw`. `raw_len` must be the
 * length of the message, which the encoded message does not contain. The memory must not overlap
 * the encoded message.
 *
 * The encoded message may contain anything: there is an error, or all of `raw` is written. A codec
 * detects damage only if it leads to something that no encoder writes; other damage gives wrong
 * bytes. Frames (mpress_engine_decode) have a checksum. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_DAMAGED or MPRESS_STATUS_UNSUPPORTED if it is not the encoded form of a message of
 * this length; the contents of `raw` are then undefined. MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `codec` is NULL or not freed yet. `wire` is readable for `wire_len` bytes and `raw` writable for
 * `raw_len` bytes; either may be NULL if its length is 0.
 */
enum mpress_status mpress_codec_decode(const struct mpress_codec *codec,
                                       const void *wire,
                                       size_t wire_len,
                                       void *raw,
                                       size_t raw_len);

/**
 * Frees a codec. NULL is allowed. No other call may be using the codec.
 */
void mpress_codec_free(struct mpress_codec *codec);

/**
 * Creates settings with default values. Free `*settings` with mpress_settings_free. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `settings` is NULL or writable.
 */
enum mpress_status mpress_settings_new(struct mpress_settings **settings);

/**
 * Creates settings from the environment variables whose names begin with MPRESS_, and the file
 * named by MPRESS_CONFIG, if it is set. Variables take precedence over the file. Free `*settings`
 * with mpress_settings_free; on an error it is NULL. Variables that are not settings are ignored:
 * environment modules set such names, for example MPRESS_ROOT.
 *
 * Thread-safe, as long as no other thread changes the environment at the same time.
 *
 * Errors:
 * MPRESS_STATUS_SETTINGS if a setting has an invalid value, a key in the file is unknown, or the file
 * cannot be read. MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `settings` is NULL or writable.
 */
enum mpress_status mpress_settings_from_env(struct mpress_settings **settings);

/**
 * Creates settings from a file in TOML (its keys are in docs/settings.md of the project). Free
 * `*settings` with mpress_settings_free; on an error it is NULL. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_SETTINGS if the file cannot be read, or a key in it is unknown or has an invalid
 * value. MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `path` is NULL or a zero-terminated string; `settings` is NULL or writable.
 */
enum mpress_status mpress_settings_from_file(const char *path, struct mpress_settings **settings);

/**
 * Sets one setting, as if the environment variable `name` (such as "MPRESS_STRATEGY") had this
 * value; "" means not set. It takes precedence over a file, even one that is set later. Engines
 * that have been created already do not change. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_SETTINGS if the name is unknown or the value invalid; the settings are then
 * unchanged. MPRESS_GUIDE must be set before MPRESS_STRATEGY is set to "guided".
 * MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `settings` is NULL or not freed yet; `name` and `value` are NULL or zero-terminated strings.
 */
enum mpress_status mpress_settings_set(const struct mpress_settings *settings,
                                       const char *name,
                                       const char *value);

/**
 * Stores in `*text` all settings in the format of a settings file (TOML). Free `*text` with
 * mpress_text_free; on an error it is NULL. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `settings` is NULL or not freed yet; `text` is NULL or writable.
 */
enum mpress_status mpress_settings_text(const struct mpress_settings *settings, char **text);

/**
 * Frees settings. NULL is allowed. No other call may be using them; engines created with them do
 * not use them any more.
 */
void mpress_settings_free(struct mpress_settings *settings);

/**
 * Frees a text stored by a function of this library. NULL is allowed.
 *
 * Requires:
 * `text` is NULL or such a text, and not freed yet.
 */
void mpress_text_free(char *text);

/**
 * The first half of the handshake of a job: stores at `numbers` the contribution of this process,
 * MPRESS_HANDSHAKE_LEN numbers. All processes must compute the minimum of each number over all of
 * them (an MPI_Allreduce with MPI_UINT64_T and MPI_MIN), and pass the minima to
 * mpress_handshake_mark.
 *
 * A process with invalid settings takes part with `settings` NULL: then there is no mark, and no
 * process compresses. Thread-safe.
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
 * recognise their frames, if all of them have the same version and settings. `minima` are the
 * MPRESS_HANDSHAKE_LEN minima over all processes. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_DISAGREEMENT if the processes differ; all of them get this result. No process may
 * then send frames. MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `minima` is NULL or readable for MPRESS_HANDSHAKE_LEN numbers; `mark` is NULL or writable for
 * MPRESS_MARK_LEN bytes.
 */
enum mpress_status mpress_handshake_mark(const uint64_t *minima, uint8_t *mark);

/**
 * Creates an engine with these settings, or with the defaults if `settings` is NULL. It reads the
 * files named in the settings. `mark` is that of the job (mpress_handshake_mark). If `mark` is
 * NULL, the engine uses a fixed one; this is for tests, since a message with these bytes at its
 * start would be mistaken for a frame. Free `*engine` with mpress_engine_free; on an error it is
 * NULL. Thread-safe.
 *
 * The engine assumes a network of 1 Gbit/s until it knows better: from mpress_engine_set_link or
 * mpress_engine_waited.
 *
 * With the adaptive strategy an engine makes trials by the clock, unless MPRESS_CLOCK is off: from
 * a quarter of a second after this call on, it occasionally has all messages sent unchanged for 31 or
 * 125 ms, to measure whether compression gains anything; if it does not, all messages are sent
 * unchanged. So create the engines of all processes at the same time, ideally right after the handshake.
 *
 * Errors:
 * MPRESS_STATUS_SETTINGS if a file named by MPRESS_HEURISTICS or MPRESS_GUIDE cannot be used.
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
 * Sets the known properties of the network: the latency in microseconds, and the bandwidth that
 * one process gets while the others send too, in MB/s (10^6 bytes per second). Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT, also if the values are implausible: the latency must be from 0 to 10^7,
 * the bandwidth from 0.001 to 10^7.
 */
enum mpress_status mpress_engine_set_link(const struct mpress_engine *engine,
                                          double latency_us,
                                          double bandwidth_mb_s);

/**
 * Reports that this process waited for `nanoseconds`, in calls that did nothing else, while frames
 * of `sent` bytes were sent to other nodes and frames of `received` bytes were received from them.
 * Count only frames of 32 KiB or more: shorter ones wait for other things than bandwidth. From
 * this the adaptive strategy learns the speed of the network. Optional. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT.
 */
enum mpress_status mpress_engine_waited(const struct mpress_engine *engine,
                                        size_t sent,
                                        size_t received,
                                        uint64_t nanoseconds);

/**
 * Creates the frame of a message of `len` bytes. `kind` is an mpress_kind, `to` an
 * mpress_destination.
 *
 * `*frame` is NULL, with success, if the message is to be sent unchanged: because it is short,
 * does not become smaller, or because of the strategy, perhaps only temporarily
 * (mpress_engine_new). Otherwise send the bytes from mpress_frame_bytes instead, and free the frame
 * with mpress_frame_free after they have been sent. A frame is always shorter than its message, so
 * it fits wherever the message is received. On an error `*frame` is NULL, too. Thread-safe.
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
 * Stores in `*data` and `*len` the address and the number of a frame's bytes. They belong to the
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
 * Frees a frame, which may outlive its engine. NULL is allowed. Nothing may be reading its bytes.
 */
void mpress_frame_free(struct mpress_frame *frame);

/**
 * Whether a frame can have this length in bytes. Data of any other length is an unchanged message
 * and needs no further check. Thread-safe.
 */
bool mpress_may_be_frame(size_t len);

/**
 * Stores in `*is_frame` whether the `len` received bytes are a frame of this job, possibly
 * damaged. Otherwise they are the message itself. Thread-safe.
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
 * Checks a frame, and stores in `*message_len` the length of its message in bytes. This is the
 * length stated in the frame: up to 2^48 - 1, for a frame of any length. So check that it is
 * plausible before allocating memory. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_DAMAGED if it is not a complete frame of this job, MPRESS_STATUS_UNSUPPORTED,
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
 * `*message_len` the length of the message in bytes. Memory beyond that is not modified. The
 * memory must not overlap the frame.
 *
 * The frame may contain anything: there is an error, or the message that was sent, except for
 * damage that a CRC-32 does not detect. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ROOM if the message is longer than `room`: `*message_len` is its length, and
 * nothing was written. MPRESS_STATUS_DAMAGED if it is not a complete frame of this job, or refers to
 * an earlier message that this engine does not keep (mpress_engine_encode_on).
 * MPRESS_STATUS_UNSUPPORTED if this library lacks its codec. MPRESS_STATUS_ARGUMENT. The contents of
 * `message` are then undefined.
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
 * Frees an engine. NULL is allowed. No other call may be using the engine; its frames stay valid.
 */
void mpress_engine_free(struct mpress_engine *engine);

/**
 * Creates an engine like mpress_engine_new, with a memory of messages: mpress_engine_encode_on may
 * encode a message by its differences from an earlier one that the receiver keeps. `rank` is the
 * number of this process among the `size` processes that exchange frames, from 0, as in
 * MPI_COMM_WORLD. The engine keeps at most MPRESS_MEMORY bytes of messages, half of them sent, half
 * received; it never refers to others if that is 0. Free `*engine` with mpress_engine_free; on an
 * error it is NULL. Thread-safe.
 *
 * With such an engine, decode each frame once, with mpress_engine_decode, or give it to
 * mpress_engine_refuse. The order does not matter.
 *
 * Errors:
 * MPRESS_STATUS_SETTINGS as for mpress_engine_new. MPRESS_STATUS_ARGUMENT, also if `rank` is not one
 * of `size` processes.
 *
 * Requires:
 * `settings` is NULL or not freed yet; `mark` is NULL or readable for MPRESS_MARK_LEN bytes;
 * `engine` is NULL or writable.
 */
enum mpress_status mpress_engine_with_memory(const struct mpress_settings *settings,
                                             const uint8_t *mark,
                                             int rank,
                                             int size,
                                             struct mpress_engine **engine);

/**
 * Creates the frame of a message like mpress_engine_encode, for the process with rank `peer`. If
 * the engine was created by mpress_engine_with_memory, the message may refer to an earlier one of
 * its channel, given by `peer`, `context` (any number for the communicator) and `tag`. So messages
 * of at most 1 MiB that resemble earlier ones of the same channel and length make shorter frames,
 * once frames in the other direction, including those of this function, have told this engine what
 * the receiver keeps.
 *
 * Send the frame to that process only, once. Its engine must have been created with that rank. The
 * message is copied, so it may change after the call. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT, also if `peer` is negative, or not less than the `size` of
 * mpress_engine_with_memory.
 *
 * Requires:
 * `engine` is NULL or not freed yet; `message` is readable for `len` bytes, or NULL if `len` is 0;
 * `frame` is NULL or writable.
 */
enum mpress_status mpress_engine_encode_on(const struct mpress_engine *engine,
                                           const void *message,
                                           size_t len,
                                           int kind,
                                           int to,
                                           int peer,
                                           uint64_t context,
                                           int tag,
                                           struct mpress_frame **frame);

/**
 * Reports that a frame of `len` bytes came, but its message will not be decoded, for example because
 * it is longer than the program's memory for it (MPRESS_STATUS_ROOM). Without that, its sender would
 * wait for news of this message, and the receiver would keep what it refers to until the job ends.
 * The call is not needed after mpress_engine_decode has succeeded, or failed with
 * MPRESS_STATUS_DAMAGED; it then changes nothing, nor does it for a frame that is not from
 * mpress_engine_encode_on. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_DAMAGED if it is not a complete frame of this job, MPRESS_STATUS_UNSUPPORTED,
 * MPRESS_STATUS_ARGUMENT.
 *
 * Requires:
 * `engine` is NULL or not freed yet; `frame` is readable for `len` bytes, or NULL if `len` is 0.
 */
enum mpress_status mpress_engine_refuse(const struct mpress_engine *engine,
                                        const void *frame,
                                        size_t len);

/**
 * Stores in `*stats` the engine's statistics so far. Thread-safe.
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
 * Stores all counters of the engine at `counters`, and their number in `*count`, which is constant
 * for a given library. For a report about a job, sum them over its processes, element by element,
 * with wrap-around (MPI_UINT64_T and MPI_SUM), and pass the sums to mpress_engine_report. With
 * `counters` NULL and `room` 0 this only stores the number, and returns MPRESS_STATUS_ROOM.
 * Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ROOM if `room` is too small: `*count` is the number, and nothing was written.
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
 * Creates a report. `sums` are the `count` sums of mpress_engine_counters over all processes of
 * the job; if NULL, the report is about this process only. `job` may be NULL: then it is called
 * "unknown", with one rank, one node, and the time since the creation of the engine. `form` is an
 * mpress_report_form. Free `*text` with mpress_text_free; on an error it is NULL. Thread-safe.
 *
 * Errors:
 * MPRESS_STATUS_ARGUMENT, also if `count` is not the number from mpress_engine_counters, or the
 * seconds are negative or not a number.
 *
 * Requires:
 * `engine` is NULL or not freed yet. `job` is NULL or readable, and its program NULL or a
 * zero-terminated string. `sums` is NULL or readable for `count` numbers; `text` is NULL or
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
