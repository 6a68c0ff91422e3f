package connections

import "golang.org/x/sys/unix"

// stalls reports whether the client of c has taken no data for stalledTime although there are some for it.
func stalls(c *conn) bool {
	tcp := c.TCP()
	if tcp == nil {
		return false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return false
	}
	var info *unix.TCPInfo
	controlErr := raw.Control(func(fd uintptr) { info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
	if controlErr != nil || err != nil || info == nil {
		return false
	}
	// The probes that the kernel sends to a client without a window carry no data, and do not count as such.
	return (info.Notsent_bytes > 0 || info.Unacked > 0) && int64(info.Last_data_sent) >= stalledTime.Milliseconds()
}
