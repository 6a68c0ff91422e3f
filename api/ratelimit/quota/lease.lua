-- KEYS[1]: a client's bucket; ARGV: its size, which is also the tokens that it gains in a minute, and how many to take.
-- Returns how many are granted, and what the bucket then lacks, in µs. All times are µs in doubles, which are exact for the
-- next two centuries.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local size = 60000000
local interval = size / ARGV[1]

-- Another program may have stored anything at the key: that counts as nothing, and SET replaces it.
local stored = redis.pcall('GET', KEYS[1])
local full = type(stored) == 'string' and #stored <= 32 and tonumber(stored) or 0
if full ~= full or full > now + size then
  full = now -- not a number, or stored before the clock was set back: there is no telling how long ago
end
local missing = math.max(full - now, 0)
-- A token counts as soon as it is complete to the microsecond that full is rounded to.
local granted = math.min(tonumber(ARGV[2]), math.floor((size - missing + 1) / interval))
if granted > 0 then
  missing = math.min(missing + granted * interval, size)
  redis.call('SET', KEYS[1], string.format('%.0f', now + missing), 'PX', math.max(math.ceil(missing / 1000), 1))
end
return {granted, math.ceil(missing)}
