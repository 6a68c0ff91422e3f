package disk

import (
	"cmp"
	"fmt"
	"log/slog"

	"limnomap/data/diskspace"
)

// Options are the optional parameters of [Open]. A nil *Options means all defaults.
type Options struct {
	// Bytes bounds what the entries occupy on disk. Zero means 1 GiB.
	Bytes int64
	// MinFree is how much free space the cache leaves on its disk: with less, it shrinks and takes nothing more. Zero means
	// 1 GiB, or a twentieth of a disk smaller than 20 GiB; a negative value means no such bound. Systems other than Linux,
	// macOS and FreeBSD do not report free space: there it must not be positive.
	MinFree int64
	// Logger receives the faults of the disk. Nil discards them.
	Logger *slog.Logger
	// Metrics counts what the cache does. Nil means metrics of its own, which are not exported.
	Metrics *Metrics
}

// withDefaults returns a copy of o with defaults for its zero fields, or an error for a value that is not allowed.
func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Bytes < 0 {
		return c, fmt.Errorf("disk: option Bytes is %d, and must not be negative", c.Bytes)
	}
	if c.MinFree > 0 && !diskspace.Known {
		return c, fmt.Errorf("disk: option MinFree is %d, and this system does not report free space", c.MinFree)
	}
	c.Bytes = cmp.Or(c.Bytes, 1<<30)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Metrics == nil {
		c.Metrics = NewMetrics(nil)
	}
	return c, nil
}
