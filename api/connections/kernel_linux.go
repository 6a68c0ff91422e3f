package connections

import "golang.org/x/sys/unix"

// unread reports whether the client of c has sent something that is not read yet.
func unread(c *conn) bool {
	n := 0
	return control(c, func(fd int) (err error) {
		n, err = unix.IoctlGetInt(fd, unix.SIOCINQ)
		return err
	}) && n > 0
}

// stalls reports whether the client of c has taken no data for stalledTime although there are some for it.
func stalls(c *conn) bool {
	var info *unix.TCPInfo
	if !control(c, func(fd int) (err error) {
		info, err = unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		return err
	}) {
		return false
	}
	// The probes that the kernel sends to a client without a window carry no data, and do not count as such.
	return (info.Notsent_bytes > 0 || info.Unacked > 0) && int64(info.Last_data_sent) >= stalledTime.Milliseconds()
}

// control calls ask with the descriptor of c, and reports whether there is one and ask succeeds.
func control(c *conn, ask func(fd int) error) bool {
	tcp := c.TCP()
	if tcp == nil {
		return false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return false
	}
	var asked error
	err = raw.Control(func(fd uintptr) { asked = ask(int(fd)) })
	return err == nil && asked == nil
}
