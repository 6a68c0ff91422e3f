-- KEYS[1]: a client's bucket; ARGV: the tokens that it holds and gains in a minute, and how many are asked for.
-- Returns how many are granted, and what is missing of a full bucket then, in µs. All times are µs, in doubles that hold
-- those of the next two centuries exactly.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local size = 60000000
local interval = size / ARGV[1]

local full = tonumber(redis.call('GET', KEYS[1]) or 0)
if full > now + size then
  full = now -- written before the clock was set back: how long ago nobody knows
end
local missing = math.max(full - now, 0)
-- A token is there as soon as it is complete to the microsecond that full is rounded to.
local granted = math.min(tonumber(ARGV[2]), math.floor((size - missing + 1) / interval))
if granted > 0 then
  missing = math.min(missing + granted * interval, size)
  redis.call('SET', KEYS[1], string.format('%.0f', now + missing), 'PX', math.max(math.ceil(missing / 1000), 1))
end
return {granted, math.ceil(missing)}
