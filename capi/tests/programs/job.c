/* Settings, handshake and reports. `argv[1]` is a folder for files. */
#include "check.h"

static char path[4096];

static const char *file(const char *folder, const char *name, const char *text)
{
    CHECK(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

static void expect_text(const mpress_settings *settings, const char *words)
{
    char *text;
    OK(mpress_settings_text(settings, &text));
    CHECK(strstr(text, words) != NULL);
    mpress_text_free(text);
}

static void set_and_read(const char *folder)
{
    mpress_settings *settings = (mpress_settings *)path;
    OK(mpress_settings_new(&settings));
    expect_text(settings, "strategy = \"adaptive\"");
    OK(mpress_settings_set(settings, "MPRESS_THREADS", "2"));
    OK(mpress_settings_set(settings, "MPRESS_THREADS", "3"));
    FAILS(SETTINGS, mpress_settings_set(settings, "MPRESS_THREADS", "0"));
    SAYS("MPRESS_THREADS=0: expected");
    FAILS(SETTINGS, mpress_settings_set(settings, "MPRESS_TREADS", "1"));
    SAYS("unknown setting");
    FAILS(SETTINGS, mpress_settings_set(settings, "threads", "1"));
    SAYS("unknown setting");
    FAILS(SETTINGS, mpress_settings_set(settings, "", ""));
    FAILS(SETTINGS, mpress_settings_set(settings, "MPRESS_STRATEGY", "fixed:gzip"));
    FAILS(SETTINGS, mpress_settings_set(settings, "MPRESS_STRATEGY", "guided"));
    FAILS(SETTINGS, mpress_settings_set(settings, "MPRESS_STRATEGY", "\xff"));
    FAILS(ARGUMENT, mpress_settings_set(settings, NULL, "1"));
    FAILS(ARGUMENT, mpress_settings_set(settings, "MPRESS_THREADS", NULL));
    FAILS(ARGUMENT, mpress_settings_set(NULL, "MPRESS_THREADS", "1"));
    /* Refused settings have changed nothing. */
    expect_text(settings, "threads = 3");
    OK(mpress_settings_set(settings, "MPRESS_CONFIG", file(folder, "settings.toml", "threads = 9\nstrategy = \"off\"\n")));
    expect_text(settings, "threads = 3");
    expect_text(settings, "strategy = \"off\"");
    OK(mpress_settings_set(settings, "MPRESS_THREADS", ""));
    expect_text(settings, "threads = 9");
    mpress_settings_free(settings);

    OK(mpress_settings_from_file(path, &settings));
    expect_text(settings, "threads = 9");
    mpress_settings_free(settings);
    FAILS(SETTINGS, mpress_settings_from_file("/none/such", &settings));
    SAYS("/none/such: ");
    CHECK(settings == NULL);
    FAILS(SETTINGS, mpress_settings_from_file(file(folder, "wrong.toml", "threads 9"), &settings));
    SAYS("line 1");
    FAILS(ARGUMENT, mpress_settings_from_file("", &settings));
    FAILS(ARGUMENT, mpress_settings_from_file(NULL, &settings));
    FAILS(ARGUMENT, mpress_settings_from_file(path, NULL));
    FAILS(ARGUMENT, mpress_settings_new(NULL));
    FAILS(ARGUMENT, mpress_settings_from_env(NULL));
    /* The test sets MPRESS_THREADS=5. */
    OK(mpress_settings_from_env(&settings));
    expect_text(settings, "threads = 5");
    char *text = path;
    FAILS(ARGUMENT, mpress_settings_text(NULL, &text));
    CHECK(text == NULL);
    FAILS(ARGUMENT, mpress_settings_text(settings, NULL));
    mpress_settings_free(settings);
    mpress_settings_free(NULL);
    mpress_text_free(NULL);
}

static void shake_hands(void)
{
    mpress_settings *one, *other;
    uint64_t a[MPRESS_HANDSHAKE_LEN], b[MPRESS_HANDSHAKE_LEN], least[MPRESS_HANDSHAKE_LEN];
    uint8_t mark[MPRESS_MARK_LEN], zeros[MPRESS_MARK_LEN] = {0};
    OK(mpress_settings_new(&one));
    OK(mpress_settings_new(&other));
    /* First equal settings, then different ones, then one without settings. */
    for (int round = 0; round < 3; round++) {
        if (round == 1)
            OK(mpress_settings_set(other, "MPRESS_THRESHOLD", "4096"));
        OK(mpress_handshake_numbers(one, a));
        OK(mpress_handshake_numbers(round == 2 ? NULL : other, b));
        look_at(a, sizeof a);
        look_at(b, sizeof b);
        for (int i = 0; i < MPRESS_HANDSHAKE_LEN; i++)
            least[i] = a[i] < b[i] ? a[i] : b[i];
        memset(mark, 1, sizeof mark);
        mpress_status status = mpress_handshake_mark(least, mark);
        CHECK(status == (round == 0 ? MPRESS_STATUS_OK : MPRESS_STATUS_DISAGREEMENT));
        look_at(mark, sizeof mark);
        CHECK((memcmp(mark, zeros, sizeof mark) == 0) == (round > 0));
    }
    FAILS(ARGUMENT, mpress_handshake_numbers(one, NULL));
    FAILS(ARGUMENT, mpress_handshake_mark(NULL, mark));
    FAILS(ARGUMENT, mpress_handshake_mark(least, NULL));
    mpress_settings_free(one);
    mpress_settings_free(other);
}

static void files(const char *folder)
{
    mpress_settings *settings;
    mpress_engine *engine = (mpress_engine *)path;
    FAILS(ARGUMENT, mpress_engine_new(NULL, NULL, NULL));
    OK(mpress_settings_new(&settings));
    OK(mpress_settings_set(settings, "MPRESS_HEURISTICS", "/none/such"));
    FAILS(SETTINGS, mpress_engine_new(settings, NULL, &engine));
    SAYS("/none/such/compression.toml: ");
    CHECK(engine == NULL);
    OK(mpress_settings_set(settings, "MPRESS_HEURISTICS", ""));
    OK(mpress_settings_set(settings, "MPRESS_GUIDE", file(folder, "guide.toml", "format = \"other\"\n")));
    /* The adaptive strategy writes that file. */
    OK(mpress_engine_new(settings, NULL, &engine));
    mpress_engine_free(engine);
    OK(mpress_settings_set(settings, "MPRESS_STRATEGY", "guided"));
    FAILS(SETTINGS, mpress_engine_new(settings, NULL, &engine));
    SAYS("guide.toml: ");
    mpress_settings_free(settings);
}

static void report(void)
{
    enum { MESSAGES = 10, COUNT = 1000, RANKS = 3 };
    double *message = smooth(COUNT);
    mpress_engine *engine = engine_with("fixed:diffpack-fast");
    mpress_stats stats;
    size_t sent = 0, count = 0, len;
    for (int i = 0; i < MESSAGES; i++) {
        mpress_frame *frame;
        const void *data;
        OK(mpress_engine_encode(engine, message, COUNT * sizeof *message, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, &frame));
        CHECK(frame != NULL);
        OK(mpress_frame_bytes(frame, &data, &len));
        OK(mpress_engine_decode(engine, data, len, message, COUNT * sizeof *message, &len));
        OK(mpress_frame_bytes(frame, &data, &len));
        sent += len;
        mpress_frame_free(frame);
    }
    OK(mpress_engine_stats(engine, &stats));
    look_at(&stats, sizeof stats);
    CHECK(stats.messages == MESSAGES && stats.raw_bytes == MESSAGES * COUNT * sizeof *message);
    CHECK(stats.wire_bytes == sent && stats.decoded == MESSAGES && stats.decoded_bytes == stats.raw_bytes);
    FAILS(ARGUMENT, mpress_engine_stats(NULL, &stats));
    CHECK(stats.messages == 0);
    FAILS(ARGUMENT, mpress_engine_stats(engine, NULL));

    /* Sums over three processes that did the same. */
    FAILS(ROOM, mpress_engine_counters(engine, NULL, 0, &count));
    CHECK(count > 0);
    uint64_t *sums = memory(count * sizeof *sums);
    FAILS(ROOM, mpress_engine_counters(engine, sums, count - 1, &len));
    FAILS(ARGUMENT, mpress_engine_counters(engine, NULL, count, &len));
    FAILS(ARGUMENT, mpress_engine_counters(engine, (uint64_t *)(void *)((char *)sums + 1), count, &len));
    SAYS("counters is not aligned");
    OK(mpress_engine_counters(engine, sums, count, &len));
    CHECK(len == count);
    look_at(sums, count * sizeof *sums);
    for (size_t i = 0; i < count; i++)
        sums[i] *= RANKS;
    mpress_job job = {"a program", RANKS, 2, 1.5};
    char *text;
    OK(mpress_engine_report(engine, &job, sums, count, MPRESS_REPORT_FORM_FULL, &text));
    CHECK(strstr(text, "30 of 30 messages compressed over 3 ranks") != NULL);
    CHECK(strstr(text, "a program: 3 ranks on 2 nodes, 1.500 s; strategy fixed:diffpack-fast") != NULL);
    mpress_text_free(text);
    OK(mpress_engine_report(engine, &job, NULL, 0, MPRESS_REPORT_FORM_JSON, &text));
    CHECK(text[0] == '{' && strstr(text, "\"format\": \"mpress report\"") != NULL);
    mpress_text_free(text);
    OK(mpress_engine_report(engine, NULL, NULL, 0, MPRESS_REPORT_FORM_SUMMARY, &text));
    CHECK(strstr(text, "10 of 10 messages compressed over 1 rank") != NULL);
    mpress_text_free(text);
    FAILS(ARGUMENT, mpress_engine_report(engine, &job, sums, count - 1, MPRESS_REPORT_FORM_FULL, &text));
    CHECK(text == NULL);
    FAILS(ARGUMENT, mpress_engine_report(engine, &job, sums, count, 0, &text));
    FAILS(ARGUMENT, mpress_engine_report(engine, &job, sums, count, 4, &text));
    FAILS(ARGUMENT, mpress_engine_report(NULL, &job, sums, count, MPRESS_REPORT_FORM_FULL, &text));
    FAILS(ARGUMENT, mpress_engine_report(engine, &job, sums, count, MPRESS_REPORT_FORM_FULL, NULL));
    job.seconds = -1.0;
    FAILS(ARGUMENT, mpress_engine_report(engine, &job, sums, count, MPRESS_REPORT_FORM_FULL, &text));
    SAYS("no job lasts -1 seconds");
    job.seconds = 0.0;
    job.program = NULL;
    OK(mpress_engine_report(engine, &job, sums, count, MPRESS_REPORT_FORM_FULL, &text));
    mpress_text_free(text);

    OK(mpress_engine_set_link(engine, 30.0, 100.0));
    OK(mpress_engine_report(engine, &job, NULL, 0, MPRESS_REPORT_FORM_FULL, &text));
    CHECK(strstr(text, "network 30.0 us, 100.0 MB/s") != NULL);
    mpress_text_free(text);
    FAILS(ARGUMENT, mpress_engine_set_link(engine, -1.0, 100.0));
    FAILS(ARGUMENT, mpress_engine_set_link(engine, 30.0, 0.0));
    FAILS(ARGUMENT, mpress_engine_set_link(NULL, 30.0, 100.0));
    OK(mpress_engine_waited(engine, 1 << 20, 0, 1000000));
    FAILS(ARGUMENT, mpress_engine_waited(engine, SIZE_MAX, SIZE_MAX, 1));
    FAILS(ARGUMENT, mpress_engine_waited(NULL, 1, 1, 1));
    free(sums);
    mpress_engine_free(engine);
    free(message);
}

/* MPRESS_DISABLE sends all messages unchanged. */
static void disabled(void)
{
    mpress_settings *settings;
    mpress_engine *engine;
    mpress_frame *frame;
    double *message = smooth(1000);
    OK(mpress_settings_new(&settings));
    OK(mpress_settings_set(settings, "MPRESS_STRATEGY", "fixed:diffpack-fast"));
    OK(mpress_settings_set(settings, "MPRESS_DISABLE", "1"));
    OK(mpress_engine_new(settings, NULL, &engine));
    OK(mpress_engine_encode(engine, message, 8000, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, &frame));
    CHECK(frame == NULL);
    mpress_engine_free(engine);
    mpress_settings_free(settings);
    free(message);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    for (int status = -2; status < 20; status++)
        CHECK(strlen(mpress_status_text(status)) > 0);
    CHECK(strcmp(mpress_status_text(MPRESS_STATUS_OK), "success") == 0);
    CHECK(strcmp(mpress_status_text(MPRESS_STATUS_INTERNAL), "internal error") == 0);
    CHECK(strcmp(mpress_status_text(MPRESS_STATUS_INTERNAL + 1), "unknown status") == 0);
    CHECK(strcmp(mpress_last_error(), "") == 0);
    set_and_read(argv[1]);
    shake_hands();
    files(argv[1]);
    report();
    disabled();
    puts("well");
    return 0;
}
