// SPDX-License-Identifier: BSD-2-Clause
//
// The bridge's XGMII beside the MAC of the reference endpoint, which reads it with
// other code. Of columns that the bridge lets pass both tell the same frames, and
// what it refuses has a name; the MAC takes for good no frame that the bridge
// refuses. Frames that the bridge sends come back as they were, in both, and
// only damaged ones are refused. The first byte: bit 0 sends frames, bits 1 and 2
// are the seed; the second one says in which of eight cycles the bridge's frames
// are taken.

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "Vbridge.h"
#include "Vmac.h"
#include "target.h"
#include "verilated.h"

namespace {

constexpr int Lanes = 8, FcsBytes = 4, ShortestFrame = 60, Quiet = 8;
constexpr std::size_t MostLanes = 12288, MostSent = 4096;
constexpr uint16_t Idle = 0x107, Start = 0x1FB, Terminate = 0x1FD;

struct Refused {};

std::string heard; // what the simulation has said last

struct Bytes {
    const uint8_t *at, *end;

    bool is_over() const {
        return at == end;
    }
    uint8_t take() {
        return is_over() ? uint8_t{0} : *at++;
    }
};

struct Frame {
    std::vector<uint8_t> bytes;
    bool is_bad = false;

    // What is damaged may have grown by a trailer.
    bool is_like(const Frame &other) const {
        return is_bad == other.is_bad && (is_bad || bytes == other.bytes);
    }
};

struct Column {
    uint64_t data = 0x0707070707070707;
    uint8_t control = 0xFF;

    void put(int lane, uint16_t character) {
        const int at = 8 * lane;
        const unsigned is_control = character >> 8;
        data = (data & ~(uint64_t{0xFF} << at)) | (uint64_t{character & 0xFFU} << at);
        control = static_cast<uint8_t>((control & ~(1U << lane)) | is_control << lane);
    }
};

// What comes of one reader, beat by beat.
struct Reader {
    std::vector<Frame> frames;
    Frame next;

    void take(uint64_t data, uint8_t keep, bool is_last, bool is_bad) {
        demand(keep != 0 && (keep & (keep + 1)) == 0 && (is_last || keep == 0xFF));
        for (int lane = 0; lane < Lanes && (keep >> lane & 1); lane++)
            next.bytes.push_back(static_cast<uint8_t>(data >> (8 * lane)));
        if (is_last) {
            next.is_bad = is_bad;
            frames.push_back(std::move(next));
            next = Frame{};
        }
    }

    // Its frames are the first of those, or all of them.
    void compare(const std::vector<Frame> &those, bool is_all) const {
        demand(is_all ? frames.size() == those.size() : frames.size() <= those.size());
        for (std::size_t i = 0; i < frames.size(); i++)
            demand(frames[i].is_like(those[i]));
    }
};

class Bench {
  public:
    Reader by_bridge, by_mac;
    std::string refusal;

    Bench(uint8_t seed, uint8_t taken) : taken_(taken ? taken : uint8_t{0xFF}) {
        source_->seed_i = seed;
        source_->txd_i = Column{}.data;
        source_->txc_i = Column{}.control;
        source_->rst_ni = sink_->rst_ni = mac_->rst_ni = 0;
        for (int i = 0; i < 2; i++)
            send();
        source_->rst_ni = sink_->rst_ni = mac_->rst_ni = 1;
    }

    bool is_refused() const {
        return !refusal.empty();
    }

    // Offer a beat to the bridge, or none if nothing of it is kept, for one cycle: whether it is
    // taken.
    bool offer(uint64_t data, uint8_t keep, bool is_last, bool is_bad) {
        source_->rx_tvalid_i = keep != 0;
        source_->rx_tdata_i = data;
        source_->rx_tkeep_i = keep;
        source_->rx_tlast_i = is_last;
        source_->rx_tuser_i = is_bad;
        const bool is_taken = source_->rx_tready_o;
        send();
        return is_taken;
    }

    // Both readers hear it.
    void say(const Column &column) {
        mac_->xgmii_rxd_i = sink_->txd_i = column.data;
        mac_->xgmii_rxc_i = sink_->txc_i = column.control;
        sink_->tx_tready_i = taken_ >> (cycle_++ % 8) & 1;
        step(*mac_);
        if (mac_->rst_ni && mac_->m_tvalid_o)
            by_mac.take(mac_->m_tdata_o, mac_->m_tkeep_o, mac_->m_tlast_o, mac_->m_tuser_o);
        if (is_refused())
            return;
        if (sink_->rst_ni && sink_->tx_tvalid_o && sink_->tx_tready_i)
            by_bridge.take(sink_->tx_tdata_o, sink_->tx_tkeep_o, sink_->tx_tlast_o,
                           sink_->tx_tuser_o);
        try {
            step(*sink_);
        } catch (const Refused &) {
            refusal = refused_name();
        }
    }

    // Idle columns until nothing comes any more.
    void settle() {
        for (int quiet = 0; quiet < Quiet; quiet++) {
            say({});
            if (!is_refused() && sink_->tx_tvalid_o)
                quiet = 0;
        }
    }

  private:
    VerilatedContext context_;
    std::unique_ptr<Vbridge> source_ = std::make_unique<Vbridge>(&context_);
    std::unique_ptr<Vbridge> sink_ = std::make_unique<Vbridge>(&context_);
    std::unique_ptr<Vmac> mac_ = std::make_unique<Vmac>(&context_);
    const uint8_t taken_;
    unsigned cycle_ = 0;

    void send() {
        step(*source_);
        say({source_->rxd_o, source_->rxc_o});
    }

    template <class Model> static void step(Model &model) {
        model.clk_i = 0;
        model.eval();
        model.clk_i = 1;
        model.eval();
    }

    // "fcs" of "port 0: xgmii fcs: of a frame of 70 bytes is wrong"
    static std::string refused_name() {
        static const char mark[] = "port 0: xgmii ";
        const std::size_t at = heard.find(mark);
        demand(at != std::string::npos);
        const std::size_t name = at + sizeof mark - 1;
        return heard.substr(name, heard.find(':', name) - name);
    }
};

uint32_t crc_of(uint32_t crc, uint8_t byte) {
    crc ^= byte;
    for (int i = 0; i < 8; i++)
        crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    return crc;
}

// Characters as the input says them: each step has its kind in three bits and a count in five.
class Script {
  public:
    explicit Script(Bytes input) {
        while (!input.is_over() && lanes_.size() < MostLanes)
            follow(input);
    }

    std::vector<Column> columns() const {
        std::vector<Column> all((lanes_.size() + Lanes - 1) / Lanes);
        for (std::size_t i = 0; i < lanes_.size(); i++)
            all[i / Lanes].put(static_cast<int>(i % Lanes), lanes_[i]);
        return all;
    }

  private:
    enum Kind { Data, Control, Gap, Opening, Ramp, Fcs, End, Aligned };

    std::vector<uint16_t> lanes_;
    uint32_t crc_ = ~0U;

    void put(uint16_t character, int count = 1) {
        lanes_.insert(lanes_.end(), static_cast<std::size_t>(count), character);
    }

    void put_data(uint8_t byte) {
        crc_ = crc_of(crc_, byte);
        put(byte);
    }

    void follow(Bytes &input) {
        const uint8_t step = input.take();
        const int count = (step >> 3) + 1;
        switch (step & 7) {
        case Data:
            for (int i = 0; i < count; i++)
                put_data(input.take());
            break;
        case Control: {
            const uint8_t character = input.take();
            crc_ = crc_of(crc_, character);
            put(static_cast<uint16_t>(0x100 | character));
            break;
        }
        case Gap:
            put(Idle, count);
            break;
        case Opening:
            put(Start);
            put(0x55, 6);
            put(0xD5);
            crc_ = ~0U;
            break;
        case Ramp:
            for (int i = 0; i < 8 * count; i++)
                put_data(static_cast<uint8_t>(i));
            break;
        case Fcs: {
            const uint32_t fcs = ~crc_;
            for (int i = 0; i < FcsBytes; i++)
                put(static_cast<uint8_t>(fcs >> (8 * i)));
            break;
        }
        case End:
            put(Terminate);
            break;
        case Aligned:
            while (lanes_.size() % (Lanes / 2) != 0)
                put(Idle);
            break;
        }
    }
};

void say_columns(Bench &bench, Bytes input) {
    for (const Column &column : Script(input).columns()) {
        bench.say(column);
        if (bench.refusal == "fcs" || bench.refusal == "runt")
            break;
    }
    bench.settle();
    bench.by_bridge.compare(bench.by_mac.frames, !bench.is_refused());
    if (bench.refusal == "fcs")
        demand(!bench.by_mac.frames.empty() && bench.by_mac.frames.back().is_bad);
}

void send_frame(Bench &bench, const Frame &frame, int before, bool is_slow) {
    for (int i = 0; i < before; i++)
        bench.offer(0, 0, false, false);
    for (std::size_t at = 0; at < frame.bytes.size();) {
        uint64_t data = 0;
        const std::size_t left = frame.bytes.size() - at;
        const std::size_t count = left < Lanes ? left : Lanes;
        std::memcpy(&data, &frame.bytes[at], count);
        if (bench.offer(data, static_cast<uint8_t>((1U << count) - 1), count == left, frame.is_bad))
            at += count;
        if (is_slow)
            bench.offer(0, 0, false, false);
    }
}

// A frame is its length in two bytes and one of how: damaged, slowly, cycles before it.
void send_frames(Bench &bench, Bytes input) {
    std::vector<Frame> sent;
    bool is_any_bad = false;
    for (std::size_t sum = 0; !input.is_over() && sum < MostSent; sum += sent.back().bytes.size()) {
        const unsigned low = input.take(), high = input.take(), how = input.take();
        Frame frame;
        frame.is_bad = how & 1;
        is_any_bad |= frame.is_bad;
        for (unsigned i = 0; i < ShortestFrame + (low | (high & 7) << 8); i++)
            frame.bytes.push_back(static_cast<uint8_t>(i ^ how));
        send_frame(bench, frame, how >> 2 & 31, how & 2);
        sent.push_back(std::move(frame));
    }
    for (std::size_t i = 0; i < MostSent && bench.by_mac.frames.size() < sent.size(); i++)
        bench.offer(0, 0, false, false);
    bench.settle();
    demand(!bench.is_refused() || (is_any_bad && bench.refusal == "fcs"));
    bench.by_bridge.compare(sent, !bench.is_refused());
    bench.by_mac.compare(sent, true);
}

} // namespace

// Verilator's own end the process.
void vl_stop(const char *, int, const char *) {
    throw Refused{};
}

int fuzz_heard(const char *format, ...) {
    char text[1024];
    va_list values;
    va_start(values, format);
    const int size = std::vsnprintf(text, sizeof text, format, values);
    va_end(values);
    heard = text;
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    Bench bench(data[0] >> 1 & 3, data[1]);
    (data[0] & 1 ? send_frames : say_columns)(bench, Bytes{data + 2, data + size});
    return 0;
}
