package limnomaptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// The ways in which a server tells of a closure.
const (
	WayPage    = "page"    // of the lake
	WayStatus  = "status"  // the record of the lake
	WayFeed    = "feed"    // of events, as Atom
	WayStream  = "stream"  // of events, which is open all the time
	WayWebhook = "webhook" // to a receiver that takes each request at once
	WayPush    = "push"    // to browsers whose push service takes each request at once
	WayTile    = "tile"    // as a picture, with the sign of closed lakes
	WayVector  = "vector"  // as a vector tile
)

// Ways are all of them.
var Ways = []string{WayPage, WayStatus, WayFeed, WayStream, WayWebhook, WayPush, WayTile, WayVector}

// ClosureChanges are the changes of a closure in turn.
var ClosureChanges = []string{"issued", "changed", "withdrawn"}

// A ClosureChange is a change of a closure. ID is one word and a number, such as "closure-7". No other lake is in the tile of zoom 8 of the lake.
type ClosureChange struct {
	ID, Lake string // of the closure and of the lake
	At       orb.Point
	Change   string // one of ClosureChanges
}

func (c ClosureChange) String() string { return c.ID + " " + c.Change }

// ClosureHeader is the first line of a table of closures.
const ClosureHeader = "id,lake_id,kind,cause,issuer,issued,valid_from,valid_until,withdrawn,text_en\n"

// Row returns the row that makes the change. The zero time is no end. The issuer of a closure never changes.
func (c ClosureChange) Row(from, until time.Time) string {
	end, withdrawn := "", ""
	if !until.IsZero() {
		end = until.UTC().Format(time.RFC3339)
	}
	if c.Change == "withdrawn" {
		withdrawn = from.Add(24 * time.Hour).UTC().Format(time.RFC3339)
	}
	at := from.UTC().Format(time.RFC3339)
	return fmt.Sprintf("%s,%s,closure,bacteria,%s,%s,%[4]s,%s,%s,%s.\n", c.ID, c.Lake, issuerOf+c.ID, at, end, withdrawn, textOf+c.String())
}

// What the issuer and the text of a closure begin with.
const issuerOf, textOf = "Office of ", "No bathing: "

var issuer = regexp.MustCompile(issuerOf + `[a-z]+-\d+`)

// Ways returns the ways that tell of the change: on tiles a changed closure looks as before.
func (c ClosureChange) Ways() []string {
	if c.Change == "changed" {
		return Ways[:len(Ways)-2]
	}
	return Ways
}

// errUntold is that of a way that does not tell of a change yet.
var errUntold = errors.New("it was answered or sent, but without the change")

// told returns err, or an error unless ok.
func told(err error, ok bool) error {
	if err == nil && !ok {
		return errUntold
	}
	return err
}

// closedOnly is the end of the path of a tile that shows closed lakes only, and blankTile a tile without any.
const closedOnly, blankTile = ".png?style=dots&risk=closed", "/api/v1/tiles/8/0/0.png?style=dots&risk=closed"

// ask asks on a way for a change. It returns an error unless the answer tells of it.
func (o *Observer) ask(ctx context.Context, way string, c ClosureChange) error {
	withdrawn := c.Change == "withdrawn"
	tile := maptile.At(c.At, 8)
	path := fmt.Sprintf("/api/v1/tiles/%d/%d/%d", tile.Z, tile.X, tile.Y)
	switch way {
	case WayPage:
		body, err := o.get(ctx, way, "/lakes/"+c.Lake+"?lang=en")
		if withdrawn {
			return told(err, !strings.Contains(body, textOf+c.ID+" "))
		}
		return told(err, strings.Contains(body, textOf+c.String()))
	case WayStatus:
		body, err := o.get(ctx, way, fmt.Sprintf("/api/v1/bathing-lakes/status?min_lat=%v&max_lat=%[1]v&min_lon=%v&max_lon=%[2]v", c.At.Lat(), c.At.Lon()))
		var status struct {
			Lakes []struct {
				ID       string
				Advisory *struct {
					ID, Kind   string
					ValidUntil *string `json:"valid_until"`
				}
			}
		}
		if err == nil {
			err = json.Unmarshal([]byte(body), &status)
		}
		if err != nil || len(status.Lakes) != 1 || status.Lakes[0].ID != c.Lake {
			return told(err, false)
		}
		a := status.Lakes[0].Advisory
		if a == nil || withdrawn {
			return told(nil, a == nil && withdrawn)
		}
		return told(nil, a.ID == c.ID && a.Kind == "closure" && (a.ValidUntil != nil) == (c.Change == "changed"))
	case WayFeed:
		body, err := o.get(ctx, way, "/api/v1/events.atom?limit=100&lake="+url.QueryEscape(c.Lake))
		for entry := range strings.SplitSeq(body, "<entry") {
			if strings.Contains(entry, "advisory_"+c.Change) && issuer.FindString(entry) == issuerOf+c.ID {
				return err
			}
		}
		return told(err, false)
	case WayTile:
		body, err := o.get(ctx, way, path+closedOnly)
		return told(err, strings.HasPrefix(body, "\x89PNG") && (body == o.blank) == withdrawn)
	case WayVector:
		body, err := o.get(ctx, way, path+".mvt")
		return told(err, strings.Contains(body, "closure") != withdrawn)
	}
	return errors.ErrUnsupported // the others tell by themselves
}
