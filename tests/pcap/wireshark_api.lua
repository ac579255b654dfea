-- SPDX-License-Identifier: BSD-2-Clause
-- As much of Wireshark's Lua interface as the plugin uses, under a plain Lua 5.4, so that
-- the plugin is proven on the Lua of Wireshark 4.4 and later where only an older one is.
--
-- lua5.4 wireshark_api.lua PLUGIN [again | late] < FRAMES, one frame in hex a line, prints
-- for each line the fields that the plugin adds, as name=value: on the first visit, or
-- "again" on a second one that goes backwards, or "late" where the first visit was missed.

local function signed(value)
    value = value & 0xFFFFFFFF
    return value < 0x80000000 and value or value - 0x100000000
end

bit = {
    band = function(a, b) return signed(a & b) end,
    bor = function(a, b) return signed(a | b) end,
    bxor = function(a, b) return signed(a ~ b) end,
    bnot = function(a) return signed(~a) end,
    rshift = function(a, n) return signed((a & 0xFFFFFFFF) >> n) end,
    bswap = function(a) return signed((string.unpack("<I4", string.pack(">I4", a & 0xFFFFFFFF)))) end,
}
base = { HEX = "0x%08x" }
expert = { group = {}, severity = {} }
ProtoExpert = { new = function() return {} end }
Field = { new = function() return function() end end }
ProtoField = {
    string = function(name) return { name = name, format = "%s" } end,
    uint32 = function(name, _, format) return { name = name, format = format or "%d" } end,
    int32 = function(name) return { name = name, format = "%d" } end,
}

local plugin
function Proto()
    plugin = {}
    return plugin
end
function register_postdissector() end

local shown
local item = {}
function item.set_generated() return item end
function item.add_proto_expert_info() end
function item.add(_, field, ...)
    if field.name then
        shown[#shown + 1] = field.name .. "=" .. field.format:format((select(select("#", ...), ...)))
    end
    return item
end

local function buffer(bytes)
    local tvb = { raw = function() return bytes end, reported_len = function() return #bytes end }
    return setmetatable(tvb, { __call = function() return {} end })
end

dofile(arg[1])
local frames = {}
for line in io.lines() do
    frames[#frames + 1] = line:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end)
end

local function visit(number, visited)
    shown = {}
    plugin.dissector(buffer(frames[number]), { number = number, visited = visited }, item)
    return table.concat(shown, " ")
end

local lines = {}
for number = 1, #frames do
    lines[number] = visit(number, arg[2] == "late")
end
if arg[2] == "again" then
    for number = #frames, 1, -1 do
        lines[number] = visit(number, true)
    end
end
print(table.concat(lines, "\n"))
