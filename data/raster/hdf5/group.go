package hdf5

import (
	"fmt"
	"strings"
)

// A Group is a directory of named objects.
type Group struct {
	*object
}

// group returns the group at an address.
func (f *File) group(address uint64, path string) (*Group, error) {
	h, err := f.header(address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !h.isGroup() {
		return nil, fmt.Errorf("%s is %s, not a group: %w", path, h.kind(), ErrNotFound)
	}
	return &Group{&object{f, address, path}}, nil
}

// Names returns the names of the objects of the group, in the order of their creation if the file has it, else by name. A name may be
// a link that leads nowhere.
func (g *Group) Names() ([]string, error) {
	links, err := g.file.readLinks(g.address)
	if err != nil {
		return nil, g.wrap(err)
	}
	names := make([]string, len(links.links))
	for i, k := range links.links {
		names[i] = k.name
	}
	return names, nil
}

// Group returns a group below this one. Names with a slash are paths; those that begin with one start at the root group. If there is
// no such group, as when the object is a dataset, the error is [ErrNotFound].
func (g *Group) Group(name string) (*Group, error) {
	o, err := g.resolve(name)
	if err != nil {
		return nil, err
	}
	return g.file.group(o.address, o.path)
}

// Dataset returns a dataset below this group. Names with a slash are paths; those that begin with one start at the root group. If
// there is no such dataset, as when the object is a group, the error is [ErrNotFound].
func (g *Group) Dataset(name string) (*Dataset, error) {
	o, err := g.resolve(name)
	if err != nil {
		return nil, err
	}
	return g.file.dataset(o)
}

const (
	maxSoftLinks = 16   // that a path leads through
	maxPath      = 4096 // bytes of the path of an object
)

// resolve follows a path from the group.
func (g *Group) resolve(path string) (*object, error) {
	at := *g.object
	soft := maxSoftLinks
	rest := path
	if strings.HasPrefix(rest, "/") {
		at = *g.file.root.object
	}
	for rest != "" {
		name, after, _ := strings.Cut(rest, "/")
		rest = after
		if name == "" || name == "." {
			continue
		}
		k, err := at.link(name)
		if err != nil {
			return nil, err
		}
		switch {
		case k.kind == hardLink && k.address != undefined:
			if at.path = joinPath(at.path, name); len(at.path) > maxPath {
				return nil, unsupported("%.40s…: a path of more than %d bytes", at.path, maxPath)
			}
			at.address = k.address
		case k.kind == softLink:
			if soft--; soft < 0 || len(k.target)+len(rest) > maxPath {
				return nil, damaged("%s: more than %d soft links one after another, or a path of more than %d bytes", path, maxSoftLinks, maxPath)
			}
			if strings.HasPrefix(k.target, "/") {
				at = *g.file.root.object
			}
			rest = k.target + "/" + rest
		case k.kind == externalLink:
			return nil, unsupported("%s is a link to another file", joinPath(at.path, name))
		default:
			return nil, unsupported("%s is a link of type %d", joinPath(at.path, name), k.kind)
		}
	}
	return &at, nil
}

// link returns the link of a name.
func (o *object) link(name string) (link, error) {
	h, err := o.file.header(o.address)
	if err != nil {
		return link{}, o.wrap(err)
	}
	if !h.isGroup() {
		return link{}, fmt.Errorf("%s is %s and has no object %q: %w", o.path, h.kind(), name, ErrNotFound)
	}
	links, err := o.file.readLinks(o.address)
	if err != nil {
		return link{}, o.wrap(err)
	}
	if k, ok := links.find(name); ok {
		return k, nil
	}
	return link{}, fmt.Errorf("%s: no object %q: %w", o.path, name, ErrNotFound)
}

func joinPath(group, name string) string {
	if group == "/" {
		return "/" + name
	}
	return group + "/" + name
}
