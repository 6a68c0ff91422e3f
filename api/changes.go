package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/data"
)

// changes answers with the status records that may differ from those of an earlier snapshot.
func (h *eventHandlers) changes(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	since, given := query.Required("since")
	if given && since == "" {
		query.Refuse("since", "empty; it must be the snapshot of an earlier answer")
	}
	if err := query.Err(); err != nil {
		return err
	}
	since, _, _ = strings.Cut(since, "-") // TileJSON and /readyz have the renderer's version after it
	var changed func(i int) bool
	err := h.askStore(r, errEventStore, func(ctx context.Context) (err error) {
		changed, err = h.opts.Events.Changes(ctx, p.snap, since)
		return err
	})
	switch {
	case errors.Is(err, data.ErrNoMoment):
		return &answer.Problem{Status: http.StatusGone, Detail: "The changes since that snapshot are not known. Fetch the whole status, and go on with since=" + p.snap.Version + ".",
			Members: []answer.Member{{Name: "snapshot", Value: p.snap.Version}}}
	case errors.Is(err, data.ErrUncompared):
		return data.ErrUncompared
	case err != nil:
		return err
	}
	return h.sender.SendList(w, r, jsonKind, len(p.snap.Lakes), func() answer.List {
		sel := selection{view: p.snap.Current}
		for i := range p.snap.Lakes {
			if changed(i) {
				sel.add(i)
			}
		}
		list := h.encoder.statusList(p.snap, sel)
		head := record.Object("{").Text("since", since).Text("snapshot", p.snap.Version)
		list.Head = append(append(head, ','), list.Head[len("{"):]...)
		return list
	})
}
