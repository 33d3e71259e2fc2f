-- Runs a health script as Argo CD does: lua5.1 argo.lua SCRIPT < OBJECT. Prints what the script returned, as JSON.
-- Argo CD's interpreter speaks Lua 5.1 and opens the basic library, table, and a part of os; neither string nor math.
local json = require("dkjson")

local allowed = {table = table, os = {time = os.time, date = os.date}}
for _, name in ipairs({"assert", "error", "getmetatable", "ipairs", "next", "pairs", "pcall", "rawequal", "rawget", "rawset",
                       "select", "setmetatable", "tonumber", "tostring", "type", "unpack", "xpcall"}) do
  allowed[name] = _G[name]
end
allowed.obj = assert(json.decode(io.read("*a")))
local script = setfenv(assert(loadfile(arg[1])), allowed)
getmetatable("").__index = nil
local result = script()
assert(type(result) == "table", "the script returned no table")
getmetatable("").__index = string
io.write(json.encode(result))
