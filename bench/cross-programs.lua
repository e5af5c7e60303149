-- What bench/cross-programs has Lua do: all libraries, coroutines, metatables, errors, the collector, and a module in C, unless Lua is linked
-- static. The arguments are the kind of link and the module.
local kind, module = ...

local function primes(limit)
  return coroutine.wrap(function()
    local composite = {}
    for i = 2, limit do
      if not composite[i] then
        coroutine.yield(i)
        for j = i * i, limit, i do composite[j] = true end
      end
    end
  end)
end
local count, last = 0, 0
for prime in primes(20000) do count, last = count + 1, prime end
print("primes", count, last)

local point = {}
point.__index = point
point.__add = function(a, b) return setmetatable({x = a.x + b.x}, point) end
point.__tostring = function(a) return ("<%g>"):format(a.x) end
point.__lt = function(a, b) return a.x < b.x end
point.__close = function(a) print("closed", tostring(a)) end
local list = {}
for i = 1, 300 do list[i] = setmetatable({x = i * 7919 % 1009 / 8}, point) end
table.sort(list)
print(tostring(list[1] + list[300]), tostring(list[150]))
do local a <close> = list[7] end

print(("the quick brown fox"):gsub("(%w+) (%w+)", "%2 %1"), ("%5.3f|%x|%q|%a"):format(math.pi, 48879, "a\n\0b", 1 / 3))
print(string.pack(">i4z", -7, "text"):byte(1, -1))
print(utf8.char(955, 8364, 128512), utf8.len("λ€"), 7 // -2, 7 % -2, 1 << 62, 2 ^ 0.5, math.tointeger(3.0), 10 // 0.0, -(0 / 0) ~= 0 / 0)

for _, text in ipairs {"return 1 +", "local x <const> = 1; x = 2", "goto nowhere", "return #5", "error({code = 7})", "return nil .. 'a'"} do
  local chunk, message = load(text, "=chunk")
  if chunk then message = select(2, xpcall(chunk, function(e) return type(e) == "table" and e.code or debug.traceback(e, 1) end)) end
  print(text, message)
end
local function deep(n) return n == 0 and 0 or 1 + deep(n - 1) end
print(deep(10000), (select(2, pcall(deep, 1e7)):gsub("\n.*", "")))

local weak = setmetatable({}, {__mode = "k"})
local finalized = 0
for i = 1, 2000 do weak[setmetatable({}, {__gc = function() finalized = finalized + 1 end})] = i end
collectgarbage()
collectgarbage()
print(next(weak) == nil, finalized, collectgarbage("count") < 5000)

local code = string.dump(function(a) return a * 2 end)
print(load(code, "dumped", "b")(21), os.time {year = 2001, month = 9, day = 9, hour = 12} ~= nil, os.getenv("NOT_THERE"))
local file <close> = io.tmpfile()
file:write("one\n", 2, "\n")
file:seek("set")
print(file:read("l", "n"))

if not kind:find("static") then
  local open, why = package.loadlib("./" .. module, "luaopen_module")
  assert(open, why)
  local library = open()
  print(library.sum(math.sqrt, 100), library.counted(), pcall(library.fail, "text"))
end
