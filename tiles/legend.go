package tiles

import "limnomap/colormap"

// A Legend explains the colours of a map and the signs on it. It marshals to JSON: legend.json, and the metadata of archives.
type Legend struct {
	colormap.Legend
	Signs []Sign `json:"signs"` // not nil, which JSON has as null
}
