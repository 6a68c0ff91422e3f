package api

import (
	"fmt"

	"limnomap/data"
)

// Publish makes snap the snapshot of every later request. It prepares the large answers.
func (s *Server) Publish(snap *data.Snapshot) error {
	if err := s.snapshots.publish(snap); err != nil {
		return fmt.Errorf("publish snapshot %s: %w", snap.Version, err)
	}
	s.health.reloaded(s.snapshots.current.Load().state.MapVersion)
	return nil
}
