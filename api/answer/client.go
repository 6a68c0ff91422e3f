package answer

import (
	"context"
	"net/http"
	"net/netip"

	"limnomap/tiles/admission"
)

// ClientAddr returns the address of the client that sent r: the one in its RequestInfo, or the peer's if there is none.
func ClientAddr(r *http.Request) netip.Addr {
	if addr := InfoOf(r).Addr; addr.IsValid() {
		return addr
	}
	return PeerAddr(r)
}

// PeerAddr returns the address of the other end of the connection. It is invalid on a Unix socket.
func PeerAddr(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return PlainAddr(ap.Addr())
}

// PlainAddr returns a in the form in which addresses of clients are compared: ::ffff:192.0.2.1 is the same client as
// 192.0.2.1, and a zone names a network interface of this machine, not the client.
func PlainAddr(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// KeyName returns the name of the API key that came with r, empty without a valid key.
func KeyName(r *http.Request) string { return InfoOf(r).KeyName }

// ClientOf returns who sent r, for shares of memory and work.
func ClientOf(r *http.Request) admission.Client { return admission.ClientOf(ClientAddr(r)) }

// ClientIn returns who sent the request with that context, as ClientOf does. It must be called on the goroutine
// that serves the request.
func ClientIn(ctx context.Context) admission.Client {
	info, ok := ctx.Value(infoKey{}).(*RequestInfo)
	if !ok {
		return admission.Client{}
	}
	return admission.ClientOf(info.Addr)
}
