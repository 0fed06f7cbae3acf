// The header in C++: handles in smart pointers.
#include <cstring>
#include <iostream>
#include <memory>
#include <mpress.h>
#include <vector>

struct Free {
    void operator()(mpress_engine *engine) const { mpress_engine_free(engine); }
    void operator()(mpress_frame *frame) const { mpress_frame_free(frame); }
};

int main()
{
    mpress_engine *made = nullptr;
    if (mpress_engine_new(nullptr, nullptr, &made) != MPRESS_STATUS_OK)
        return 1;
    const std::unique_ptr<mpress_engine, Free> engine(made);
    const std::vector<double> message(1000, 1.0);
    const std::size_t len = message.size() * sizeof(double);
    std::vector<double> back(message.size());
    mpress_frame *encoded = nullptr;
    if (mpress_engine_encode(engine.get(), message.data(), len, MPRESS_KIND_F64, MPRESS_DESTINATION_OTHER_NODE, &encoded) != MPRESS_STATUS_OK)
        return 2;
    const std::unique_ptr<mpress_frame, Free> frame(encoded);
    const void *data = message.data();
    std::size_t data_len = len, back_len = 0;
    if (frame != nullptr) {
        if (mpress_frame_bytes(frame.get(), &data, &data_len) != MPRESS_STATUS_OK)
            return 3;
        if (mpress_engine_decode(engine.get(), data, data_len, back.data(), len, &back_len) != MPRESS_STATUS_OK)
            return 4;
        if (back_len != len || back != message)
            return 5;
    }
    if (mpress_engine_decode(nullptr, data, data_len, back.data(), len, &back_len) != MPRESS_STATUS_ARGUMENT)
        return 6;
    if (std::strcmp(mpress_last_error(), "engine is NULL") != 0)
        return 7;
    std::cout << "well" << std::endl;
    return 0;
}
