-- The mixed load of TestSoak for wrk: tiles of all zooms, hot and cold, and every other answer there is, half of them
-- asked for with the ETag that the last one had. Its one argument is an API key.

local key
local etags = {}

function init(args)
  key = args[1]
  math.randomseed(os.time())
end

local function tile(hot)
  local z = math.random(0, 12)
  local lon, lat = 6 + 8 * math.random(), 47.5 + 7 * math.random()
  if hot then -- one of a few places
    lon, lat = 6 + math.random(0, 3) * 2, 48 + math.random(0, 3) * 1.5
  end
  local n = 2 ^ z
  local rad = math.rad(lat)
  local x = math.floor((lon + 180) / 360 * n)
  local y = math.floor((1 - math.log(math.tan(rad) + 1 / math.cos(rad)) / math.pi) / 2 * n)
  local path = string.format("/api/v1/tiles/%d/%d/%d", z, x, y)
  local kind = math.random(10)
  if kind == 1 then return path .. "@2x.png" end
  if kind == 2 then return path .. ".png?style=dots" end
  if kind == 3 then return path .. ".png?date=2024-09-10" end
  return path .. ".png"
end

local others = {
  function() return "/api/v1/bathing-lakes/status" end,
  function() return "/api/v1/bathing-lakes/status?risk=high&min_lat=" .. math.random(48, 53) end,
  function() return "/api/v1/bathing-lakes/geojson" end,
  function() return "/api/v1/bathing-lakes/history/lake_" .. math.random(0, 1891) end,
  function() return "/api/v1/bathing-lakes/dates" end,
  function() return "/api/v1/monitor/lakes?limit=100&offset=" .. math.random(0, 1800) end,
  function() return "/api/v1/tiles.json" end,
  function() return "/api/v1/styles" end,
  function() return "/api/v1/legend.png?width=" .. ({200, 240, 256, 300, 320, 400})[math.random(6)] end,
  function() return "/api/v1/legend.json" end,
  function() return "/" end,
  function() return "/readyz" end,
}

function request()
  local path
  local kind = math.random(10)
  if kind <= 5 then
    path = tile(true)
  elseif kind <= 7 then
    path = tile(false)
  else
    path = others[math.random(#others)]()
  end
  local headers = { ["X-API-Key"] = key }
  if math.random(2) == 1 then headers["Accept-Encoding"] = "gzip, br, zstd" end
  if math.random(2) == 1 and #etags > 0 then headers["If-None-Match"] = etags[math.random(#etags)] end
  return wrk.format("GET", path, headers)
end

local answers = 0
function response(status, headers)
  answers = answers + 1
  if answers % 16 == 0 and headers["ETag"] then etags[answers / 16 % 64 + 1] = headers["ETag"] end
end

function done(summary, latency)
  local e = summary.errors
  print(string.format("SOAK requests=%d status=%d connect=%d read=%d write=%d timeout=%d p50_us=%d p99_us=%d",
    summary.requests, e.status, e.connect, e.read, e.write, e.timeout, latency:percentile(50), latency:percentile(99)))
end
