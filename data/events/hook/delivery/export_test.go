package delivery

import "time"

// Shorten gives a Deliverer so few places at once, and turns that are so short. It must be called before Run.
func (d *Deliverer) Shorten(atOnce int, turn time.Duration) { d.atOnce, d.turn = atOnce, turn }
