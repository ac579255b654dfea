-- SPDX-License-Identifier: BSD-2-Clause
-- Wireshark post-dissector: what roceproof knows about a RoCE packet, as fields to filter on.
--
-- It checks every ICRC (which Wireshark shows but does not check), counts PSNs and
-- messages per flow, and shows two kinds of finding: those it makes itself (ICRC-02,
-- ICRC-03, ICRC-05; PSN-02 for gaps on RC, PSN-18 on UC) and those that
-- `roceproof check --annotate` wrote into packet comments. It never touches another
-- dissector's fields, trusts no length in a packet, and keeps what it found per frame,
-- so that packets may be visited again in any order. Runs on Lua 5.2 to 5.4.

local bit = bit
local band, bor, bxor, rshift = bit.band, bit.bor, bit.bxor, bit.rshift
local byte = string.byte

local ROCE_PORT = 4791
local ETHER_VLAN = { [0x8100] = true, [0x88A8] = true, [0x9100] = true }
local ETHER_IPV4, ETHER_IPV6, ETHER_ROCE_V1 = 0x0800, 0x86DD, 0x8915
local NEXT_HEADER_UDP, NEXT_HEADER_BTH = 17, 0x1B
local ETHERNET, GRH, UDP, BTH, ICRC = 14, 40, 8, 12, 4
local ENCAP_ETHERNET = 1

local PSNS = 0x1000000
local RESTART = 0x10000 -- a FIRST or ONLY that jumps further than this starts the flow anew
local OPEN_GAPS = 16
local MTUS = { [256] = true, [512] = true, [1024] = true, [2048] = true, [4096] = true }

-- BTH opcode bits 7:5 and 4:0.
local RC, UC, UD = 0, 1, 3
local FIRST_OR_ONLY = {}
for _, low in ipairs({ 0x00, 0x04, 0x05, 0x06, 0x0A, 0x0B, 0x0C, 0x13, 0x14, 0x17, 0x1C, 0x1D }) do
    FIRST_OR_ONLY[low] = true
end
local MIDDLE_OR_LAST = {}
for _, low in ipairs({ 0x01, 0x02, 0x03, 0x07, 0x08, 0x09, 0x16 }) do
    MIDDLE_OR_LAST[low] = true
end
-- Opcodes whose payload is one path MTU, with the bytes of extension header before it.
local FULL = { [0x00] = 0, [0x01] = 0, [0x06] = 16, [0x07] = 0, [0x0D] = 4, [0x0E] = 0 }
local READ_REQUEST, RESPONSES_FROM, RESPONSES_TO, MIDDLE_RESPONSE = 0x0C, 0x0D, 0x12, 0x0E
local UC_LAST_OPCODE = 0x0B

--------------------------------------------------------------------------------
-- CRC-32, four bytes a step. Numbers from `bit` are signed: only masked ones index.

local CRC = { [0] = {}, {}, {}, {} }
for value = 0, 255 do
    local crc = value
    for _ = 1, 8 do
        crc = bxor(rshift(crc, 1), band(-band(crc, 1), 0xEDB88320))
    end
    CRC[0][value] = crc
end
for value = 0, 255 do
    for step = 1, 3 do
        local before = CRC[step - 1][value]
        CRC[step][value] = bxor(rshift(before, 8), CRC[0][band(before, 255)])
    end
end

-- The register after the bytes at offsets `from` to `to` - 1.
local function crc_over(crc, bytes, from, to)
    local t0, t1, t2, t3 = CRC[0], CRC[1], CRC[2], CRC[3]
    local at, last = from + 1, to
    while at + 3 <= last do
        local a, b, c, d = byte(bytes, at, at + 3)
        crc = bxor(crc, a + b * 0x100 + c * 0x10000 + d * 0x1000000)
        crc = bxor(
            bxor(t3[band(crc, 255)], t2[band(rshift(crc, 8), 255)]),
            bxor(t1[band(rshift(crc, 16), 255)], t0[rshift(crc, 24)])
        )
        at = at + 4
    end
    while at <= last do
        crc = bxor(rshift(crc, 8), t0[band(bxor(crc, byte(bytes, at)), 255)])
        at = at + 1
    end
    return crc
end

local CRC_AFTER_ABSENT_LRH = crc_over(-1, string.rep("\255", 8), 0, 8)

--------------------------------------------------------------------------------
-- Where a packet lies in its frame. Offsets count from 0; the caller knows they are inside.

local function u16(bytes, at)
    local a, b = byte(bytes, at + 1, at + 2)
    return a * 0x100 + b
end

local function u24(bytes, at)
    local a, b, c = byte(bytes, at + 1, at + 3)
    return a * 0x10000 + b * 0x100 + c
end

local function u32(bytes, at)
    return u16(bytes, at) * 0x10000 + u16(bytes, at + 2)
end

-- nil if `bytes` are no RoCE frame, or end before the BTH does; `finish` (behind the
-- ICRC) is missing if the frame, `reported` bytes on the wire, contradicts itself.
local function locate(bytes, reported)
    local size = #bytes
    if size < ETHERNET then
        return nil
    end
    local ip, kind = ETHERNET, u16(bytes, 12)
    while ETHER_VLAN[kind] and size >= ip + 4 do
        kind = u16(bytes, ip + 2)
        ip = ip + 4
    end

    local packet = { ip = ip }
    local ip_end
    if kind == ETHER_IPV4 then
        if size < ip + 20 then
            return nil
        end
        local first = byte(bytes, ip + 1)
        local fragment = u16(bytes, ip + 6)
        packet.udp = ip + band(first, 15) * 4
        if rshift(first, 4) ~= 4 or packet.udp < ip + 20 or band(fragment, 0x1FFF) ~= 0 then
            return nil
        end
        packet.rule, packet.fragment = "ICRC-02", band(fragment, 0x2000) ~= 0
        packet.protocol = byte(bytes, ip + 10)
        packet.source, packet.target = bytes:sub(ip + 13, ip + 16), bytes:sub(ip + 17, ip + 20)
        ip_end = ip + u16(bytes, ip + 2)
    elseif kind == ETHER_IPV6 or kind == ETHER_ROCE_V1 then
        if size < ip + GRH or rshift(byte(bytes, ip + 1), 4) ~= 6 then
            return nil
        end
        packet.rule = kind == ETHER_IPV6 and "ICRC-03" or "ICRC-05"
        packet.protocol = byte(bytes, ip + 7)
        packet.source, packet.target = bytes:sub(ip + 9, ip + 24), bytes:sub(ip + 25, ip + 40)
        packet.udp = kind == ETHER_IPV6 and ip + GRH or nil
        ip_end = ip + GRH + u16(bytes, ip + 4)
    else
        return nil
    end

    local finish = ip_end
    if packet.udp then
        packet.bth = packet.udp + UDP
        if packet.protocol ~= NEXT_HEADER_UDP or size < packet.bth + BTH then
            return nil
        end
        if u16(bytes, packet.udp + 2) ~= ROCE_PORT then
            return nil
        end
        finish = packet.udp + u16(bytes, packet.udp + 4)
    else
        packet.bth = ip + GRH
        if packet.protocol ~= NEXT_HEADER_BTH or size < packet.bth + BTH then
            return nil
        end
    end
    local sound = finish == ip_end and finish <= reported and finish >= packet.bth + BTH + ICRC
    packet.finish = sound and not packet.fragment and finish or nil
    return packet
end

-- IP or GRH to BTH, with ones where routers may write.
local function masked_headers(bytes, packet)
    local ip, udp, bth = packet.ip, packet.udp, packet.bth
    local parts = {}
    if packet.rule == "ICRC-02" then
        parts[1] = bytes:sub(ip + 1, ip + 1) .. "\255" -- TOS
        parts[2] = bytes:sub(ip + 3, ip + 8) .. "\255" -- TTL
        parts[3] = bytes:sub(ip + 10, ip + 10) .. "\255\255" -- checksum
        parts[4] = bytes:sub(ip + 13, udp)
    else
        parts[1] = string.char(bor(byte(bytes, ip + 1), 0x0F)) .. "\255\255\255" -- class, label
        parts[2] = bytes:sub(ip + 5, ip + 7) .. "\255" -- hop limit
        parts[3] = bytes:sub(ip + 9, ip + GRH)
    end
    if udp then
        parts[#parts + 1] = bytes:sub(udp + 1, udp + 6) .. "\255\255" -- checksum
    end
    parts[#parts + 1] = bytes:sub(bth + 1, bth + 4) .. "\255" -- FECN, BECN, reserved
    parts[#parts + 1] = bytes:sub(bth + 6, bth + BTH)
    return table.concat(parts)
end

-- The right ICRC, as the number that its four bytes on the wire spell.
local function icrc_of(bytes, packet)
    local head = masked_headers(bytes, packet)
    local crc = crc_over(CRC_AFTER_ABSENT_LRH, head, 0, #head)
    crc = bit.bnot(crc_over(crc, bytes, packet.bth + BTH, packet.finish - ICRC))
    return bit.bswap(crc) % 0x100000000
end

--------------------------------------------------------------------------------
-- Flows: (interface, source, target, destination QPN). `expected` is the PSN that the next new
-- request should have and `relative` its distance from the flow's first one.

local flows, requesters, answered, frames -- emptied for every capture

local function forget()
    flows, requesters, answered, frames = {}, {}, {}, {}
end

local function distance(from, to)
    local d = (to - from) % PSNS
    return d < PSNS / 2 and d or d - PSNS
end

local function begin(flow, psn)
    flow.expected, flow.relative = psn, 0
    flow.starts, flow.numbers, flow.messages = {}, {}, 0
    flow.gaps, flow.lost, flow.adopt = {}, 0, false
    flow.intact, flow.mtu, flow.open_read = false, nil, nil
end

local function flow_of(packet, psn)
    local pair = packet.interface .. packet.source .. packet.target
    local key = pair .. packet.service .. packet.peers
    local flow = flows[key]
    if not flow then
        flow = { service = packet.service }
        begin(flow, psn)
        flows[key] = flow
        requesters[pair] = requesters[pair] or {}
        table.insert(requesters[pair], flow)
    end
    return flow
end

-- Index of the last message that starts at or before a relative PSN; 0 if none does.
local function message_index(flow, relative)
    local low, high = 0, #flow.starts
    while low < high do
        local middle = math.ceil((low + high) / 2)
        if flow.starts[middle] <= relative then
            low = middle
        else
            high = middle - 1
        end
    end
    return low
end

local function open_message(flow, relative)
    local index = message_index(flow, relative)
    if flow.starts[index] ~= relative then
        flow.messages = flow.messages + 1
        table.insert(flow.starts, index + 1, relative)
        table.insert(flow.numbers, index + 1, flow.messages)
    end
end

local function learn_mtu(flow, packet)
    local headers = FULL[packet.low]
    if not flow.mtu and headers and packet.finish then
        local size = packet.finish - ICRC - packet.bth - BTH - headers
        flow.mtu = MTUS[size] and size or nil
    end
end

local function close_gap(flow, index)
    local gap = table.remove(flow.gaps, index)
    gap.record.gap = nil
end

local function fill_gaps(flow, relative)
    for index, gap in ipairs(flow.gaps) do
        if gap.from <= relative and relative <= gap.to and not gap.filled[relative] then
            gap.filled[relative] = true
            gap.left = gap.left - 1
            if gap.left == 0 then
                close_gap(flow, index)
            end
            return
        end
    end
end

local function open_gap(flow, record, rule, missing, text)
    record.gap = { rule = rule, severity = "must", text = text }
    local from, to = flow.relative, flow.relative + missing - 1
    local gap = { from = from, to = to, left = missing, filled = {}, record = record }
    table.insert(flow.gaps, gap)
    if #flow.gaps > OPEN_GAPS then
        table.remove(flow.gaps, 1)
    end
end

local function judge_distance(flow, packet, record, d)
    local text = string.format("PSN 0x%06x expected, 0x%06x found", flow.expected, packet.psn)
    if packet.service == RC then
        text = string.format("%s: %d missing, and not seen later", text, d)
        open_gap(flow, record, "PSN-02", d, text)
    else
        record.gap = { rule = "PSN-18", severity = "must", text = text }
    end
end

-- A READ takes as many PSNs as its responses; while the path MTU is unknown it is open
-- how many, and what the next request has is right.
local function advance(flow, packet, relative)
    local length, psns = 0, 1
    if packet.low == READ_REQUEST then
        length = packet.read_length
    end
    flow.open_read = nil
    if not length then
        flow.adopt = true
    elseif length > 256 and not flow.mtu then
        flow.adopt = true
        flow.open_read = { packet = packet, relative = relative }
    else
        psns = math.max(1, math.ceil(length / (flow.mtu or 256)))
    end
    flow.expected, flow.relative = (packet.psn + psns) % PSNS, relative + psns
end

local function request(packet, record)
    local flow = flow_of(packet, packet.psn)
    local opens = FIRST_OR_ONLY[packet.low]
    if record.verdict == "ok" then
        flow.intact = true
    end
    local d = distance(flow.expected, packet.psn)
    if record.verdict == "bad" and flow.intact then
        flow.lost = flow.lost + 1
        record.relative = flow.relative + d
        return
    end
    if opens and math.abs(d) > RESTART then
        begin(flow, packet.psn)
        flow.intact = record.verdict == "ok"
        d = 0
    end
    learn_mtu(flow, packet)

    local relative = flow.relative + d
    record.relative = relative
    local copy = packet.service == RC and d < 0 and not flow.adopt
    if copy then
        fill_gaps(flow, relative)
    elseif d ~= 0 and d ~= flow.lost and not flow.adopt then
        judge_distance(flow, packet, record, d)
    end
    if opens then
        open_message(flow, relative)
    end
    record.message = flow.numbers[message_index(flow, relative)]
    if copy then
        return
    end
    flow.adopt, flow.lost = packet.finish == nil, 0
    advance(flow, packet, relative)
end

-- A response belongs to the only flow of the other direction that has sent its PSN.
local function answered_by(flow, psn)
    local relative = flow.relative + distance(flow.expected, psn)
    return relative >= 0 and relative < flow.relative and flow.relative - relative <= RESTART
end

local function counterpart_of(packet)
    local key = packet.interface .. packet.source .. packet.target .. packet.peers
    local known = answered[key]
    if known and answered_by(known, packet.psn) then
        return known
    end
    local found
    for _, flow in ipairs(requesters[packet.interface .. packet.target .. packet.source] or {}) do
        if flow.service == RC and answered_by(flow, packet.psn) then
            if found then
                return nil
            end
            found = flow
        end
    end
    answered[key] = found
    return found
end

local function response(packet, record)
    if record.verdict == "bad" then
        return
    end
    local flow = counterpart_of(packet)
    if not flow then
        return
    end
    learn_mtu(flow, packet)
    if flow.mtu and flow.open_read then
        flow.adopt = false
        advance(flow, flow.open_read.packet, flow.open_read.relative)
    end
    record.relative = flow.relative + distance(flow.expected, packet.psn)
    record.message = flow.numbers[message_index(flow, record.relative)]
    for index = packet.positive and #flow.gaps or 0, 1, -1 do
        if flow.gaps[index].to <= record.relative then
            close_gap(flow, index) -- the responder got it: only the capture lacks it
        end
    end
end

local function follow(bytes, packet, record)
    local opcode = byte(bytes, packet.bth + 1)
    packet.service, packet.low = rshift(opcode, 5), band(opcode, 31)
    packet.psn = u24(bytes, packet.bth + 9)
    packet.peers = bytes:sub(packet.bth + 6, packet.bth + 8)
    local body = packet.bth + BTH
    local service, low = packet.service, packet.low
    if service == RC and low >= RESPONSES_FROM and low <= RESPONSES_TO then
        local syndrome = low ~= MIDDLE_RESPONSE and byte(bytes, body + 1)
        packet.positive = syndrome and band(syndrome, 0x60) == 0
        response(packet, record)
    elseif service == RC or (service == UC and low <= UC_LAST_OPCODE) then
        if FIRST_OR_ONLY[low] or MIDDLE_OR_LAST[low] then
            if low == READ_REQUEST then
                packet.read_length = #bytes >= body + 16 and u32(bytes, body + 12) or nil
            end
            request(packet, record)
        end
    elseif service == UD and FIRST_OR_ONLY[low] and #bytes >= body + 8 then
        packet.peers = packet.peers .. bytes:sub(body + 6, body + 8) -- PSNs are the sender's
        local flow = flow_of(packet, packet.psn)
        record.relative = flow.relative + distance(flow.expected, packet.psn)
        flow.messages = flow.messages + 1
        record.message = flow.messages
        flow.expected, flow.relative = packet.psn, record.relative
    end
end

-- Everything that is kept about a frame; false if it is no RoCE frame. Without an
-- interface the frame does not come in its turn, and takes no part in its flow.
local function examine(bytes, reported, interface)
    local packet = locate(bytes, reported)
    if not packet then
        return false
    end
    local record = { verdict = "unchecked" }
    if packet.finish and packet.finish <= #bytes then
        local at = packet.finish - ICRC
        local found = u32(bytes, at)
        record.at, record.computed = at, icrc_of(bytes, packet)
        record.verdict = found == record.computed and "ok" or "bad"
        if record.verdict == "bad" then
            local text = string.format("ICRC 0x%08x expected, 0x%08x found", record.computed, found)
            record.icrc = { rule = packet.rule, severity = "must", text = text }
        end
    end
    if interface then
        packet.interface = interface
        follow(bytes, packet, record)
    end
    return record
end

--------------------------------------------------------------------------------
-- Wireshark's side.

local proto = Proto("roceproof", "roceproof")
local shown = {
    icrc = ProtoField.string("roceproof.icrc", "ICRC"),
    computed = ProtoField.uint32("roceproof.icrc.computed", "ICRC computed", base.HEX),
    relative = ProtoField.int32("roceproof.psn.relative", "Relative PSN"),
    message = ProtoField.uint32("roceproof.message", "Message"),
    finding = ProtoField.string("roceproof.finding", "Finding"),
    severity = ProtoField.string("roceproof.finding.severity", "Severity"),
    text = ProtoField.string("roceproof.finding.text", "Text"),
}
proto.fields = shown

local experts = {}
for name, severity in pairs({ must = "ERROR", should = "WARN", info = "NOTE" }) do
    local label = "roceproof.expert." .. name
    local title = "roceproof: " .. name
    experts[name] = ProtoExpert.new(label, title, expert.group.PROTOCOL, expert.severity[severity])
end
proto.experts = experts

local frame_comment = Field.new("frame.comment")
local frame_encapsulation = Field.new("frame.encap_type")
local frame_interface = Field.new("frame.interface_id")

proto.init = forget
forget()

-- Newer Wiresharks give a comment more than once: whole, and line by line.
local function annotated()
    local findings, seen = {}, {}
    for _, comment in ipairs({ frame_comment() }) do
        for line in comment.value:gmatch("[^\r\n]+") do
            local rule, severity, text = line:match("^roceproof: (%u+%-%d+) (%a+): (.*)$")
            if rule and not seen[line] then
                seen[line] = true
                findings[#findings + 1] = { rule = rule, severity = severity, text = text }
            end
        end
    end
    return findings
end

-- What a comment says about a rule goes before what this script found.
local function findings_of(record)
    local findings = annotated()
    local named = {}
    for _, finding in ipairs(findings) do
        named[finding.rule] = true
    end
    for _, own in ipairs({ record and record.icrc or false, record and record.gap or false }) do
        if own and not named[own.rule] then
            findings[#findings + 1] = own
        end
    end
    return findings
end

local function show(tree, tvb, record, findings)
    local branch = tree:add(proto):set_generated()
    if record then
        local place = record.at and tvb(record.at, ICRC) or tvb()
        branch:add(shown.icrc, place, record.verdict):set_generated()
        if record.computed then
            branch:add(shown.computed, place, record.computed):set_generated()
        end
        if record.relative then
            branch:add(shown.relative, record.relative):set_generated()
        end
        if record.message then
            branch:add(shown.message, record.message):set_generated()
        end
    end
    for _, finding in ipairs(findings) do
        local item = branch:add(shown.finding, finding.rule):set_generated()
        item:add(shown.severity, finding.severity):set_generated()
        item:add(shown.text, finding.text):set_generated()
        if experts[finding.severity] then
            local text = finding.rule .. ": " .. finding.text
            item:add_proto_expert_info(experts[finding.severity], text)
        end
    end
end

function proto.dissector(tvb, pinfo, tree)
    local record = frames[pinfo.number]
    if record == nil then
        local encapsulation = frame_encapsulation()
        local ethernet = not encapsulation or encapsulation.value == ENCAP_ETHERNET
        local interface = not pinfo.visited and tostring((frame_interface())) .. " "
        record = ethernet and examine(tvb:raw(), tvb:reported_len(), interface)
        frames[pinfo.number] = record
    end
    local findings = findings_of(record)
    if record or #findings > 0 then
        show(tree, tvb, record, findings)
    end
end

register_postdissector(proto)
