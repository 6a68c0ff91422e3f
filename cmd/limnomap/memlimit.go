package main

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	// headroomPercent is how much of the memory that the process may have is left to what the Go runtime does not count: the
	// program itself, what it maps, and the time until the collector is done.
	headroomPercent = 10
	// minMemoryLimit is the least memory that a limit is made for. Beside less the collector would never rest, and nothing
	// would be served: whoever allows so little is better told by the kernel.
	minMemoryLimit = 32 << 20
	// maxProcFile bounds what is read of a file of /proc or of a cgroup; the longest are lists of mounts.
	maxProcFile = 1 << 20
	// maxDepth bounds the cgroups above a process's that are asked: ten are many.
	maxDepth = 64
)

// limitMemory gives the runtime the limit of the process's cgroup (GOMEMLIMIT), so that before the kernel ends a process that
// takes too much, the collector works more. What the operator has said by GOMEMLIMIT stands. How many processors a cgroup
// allows the runtime finds out itself, since Go 1.25.
//
// It goes together with a heap: that says how much garbage may gather, and the limit is where less may.
func limitMemory(root fs.FS, lookupEnv func(string) (string, bool), log *slog.Logger) {
	if said, ok := lookupEnv("GOMEMLIMIT"); ok {
		log.Info("memory is limited by the environment", "GOMEMLIMIT", said)
		return
	}
	allowed, where, err := cgroupMemory(root)
	switch {
	case err != nil:
		log.Warn("whether the memory is limited by a cgroup cannot be told: GOMEMLIMIT would limit it", "error", err)
		return
	case allowed == math.MaxInt64:
		return
	case allowed < minMemoryLimit:
		log.Warn("the cgroup allows too little memory to keep within", "allowed_bytes", allowed, "cgroup", where, "least", int64(minMemoryLimit))
		return
	}
	limit := allowed - allowed/100*headroomPercent
	debug.SetMemoryLimit(limit)
	log.Info("memory is limited by the cgroup", "allowed_bytes", allowed, "cgroup", where, "limit_bytes", limit)
}

// cgroupMemory returns how many bytes the cgroups of this process allow it, math.MaxInt64 for no bound, and which file says
// so: the least of the process's own cgroup and of all above it, of both versions of cgroups. Without any there is no bound,
// as on systems other than Linux. The root is that of the file system.
func cgroupMemory(root fs.FS) (allowed int64, where string, err error) {
	allowed = math.MaxInt64
	memberships, err := readProc(root, "proc/self/cgroup", parseMemberships)
	if memberships == nil || err != nil {
		return allowed, "", err
	}
	mounts, err := readProc(root, "proc/self/mountinfo", parseMounts)
	if err != nil {
		return allowed, "", err
	}
	for _, m := range mounts {
		for _, folder := range m.folders(memberships[m.version]) {
			file := path.Join(folder, memoryFiles[m.version])
			limit, err := readLimit(root, file)
			if err != nil {
				return math.MaxInt64, "", err
			}
			if limit < allowed {
				allowed, where = limit, "/"+file
			}
		}
	}
	return allowed, where, nil
}

// A cgroupVersion is one of the two that Linux has (cgroups(7)), and of which a system may have both.
type cgroupVersion int

const (
	cgroup1 cgroupVersion = 1
	cgroup2 cgroupVersion = 2
)

// memoryFiles are the files of a cgroup that bound its memory, in bytes.
var memoryFiles = map[cgroupVersion]string{cgroup1: "memory.limit_in_bytes", cgroup2: "memory.max"}

// parseMemberships reads /proc/self/cgroup: the cgroup that this process is in, by version. Lines are ID:CONTROLLERS:PATH;
// version 2 is 0 and has no controllers.
func parseMemberships(lines []string) (map[cgroupVersion]string, error) {
	memberships := make(map[cgroupVersion]string)
	for _, line := range lines {
		id, rest, ok1 := strings.Cut(line, ":")
		controllers, cgroup, ok2 := strings.Cut(rest, ":")
		if !ok1 || !ok2 || !strings.HasPrefix(cgroup, "/") {
			return nil, fmt.Errorf("%q is not ID:CONTROLLERS:PATH", clipLine(line))
		}
		switch {
		case id == "0" && controllers == "":
			memberships[cgroup2] = cgroup
		case hasWord(controllers, "memory"):
			memberships[cgroup1] = cgroup
		}
	}
	return memberships, nil
}

// A cgroupMount is where a tree of cgroups is to be seen in the file system.
type cgroupMount struct {
	version     cgroupVersion
	root, point string // the cgroup that is shown, and in which folder, without a slash before it
}

// parseMounts reads /proc/self/mountinfo (proc_pid_mountinfo(5)): the mounts of cgroups that bound memory.
func parseMounts(lines []string) ([]cgroupMount, error) {
	var mounts []cgroupMount
	for _, line := range lines {
		before, after, ok := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 6 || len(kind) < 2 {
			return nil, fmt.Errorf("%q is no line of mounts", clipLine(line))
		}
		m := cgroupMount{root: unescape(fields[3]), point: strings.TrimPrefix(unescape(fields[4]), "/")}
		switch {
		case kind[0] == "cgroup2":
			m.version = cgroup2
		case kind[0] == "cgroup" && len(kind) > 2 && hasWord(kind[2], "memory"):
			m.version = cgroup1
		default:
			continue
		}
		mounts = append(mounts, m)
	}
	return mounts, nil
}

// folders returns the folders of a cgroup and of those above it, as far as the mount shows them. A container sees its own
// cgroup as the mount's root, whatever its path is called outside; with a namespace of cgroups it is called "/".
func (m cgroupMount) folders(cgroup string) []string {
	if cgroup == "" || !fs.ValidPath(m.point) {
		return nil
	}
	below, ok := strings.CutPrefix(path.Clean(cgroup), strings.TrimSuffix(path.Clean(m.root), "/"))
	if !ok || below != "" && below[0] != '/' || strings.HasPrefix(below, "/..") {
		return []string{m.point}
	}
	var folders []string
	for folder := path.Join(m.point, below); len(folders) < maxDepth; folder = path.Dir(folder) {
		folders = append(folders, folder)
		if folder == m.point {
			break
		}
	}
	return folders
}

// readLimit reads the file of a limit. Where there is none, as in the root of version 2 and where the controller is off,
// there is no bound.
func readLimit(root fs.FS, file string) (int64, error) {
	limit, err := readProc(root, file, func(lines []string) (int64, error) {
		if len(lines) != 1 {
			return 0, fmt.Errorf("%d lines, want one", len(lines))
		}
		return parseLimit(lines[0])
	})
	if limit == 0 && err == nil {
		limit = math.MaxInt64 // there is no such file
	}
	return limit, err
}

// parseLimit reads a limit: bytes, or "max" for none. Of version 1, no limit is the largest number of whole pages, and a
// number that no memory has is none either.
func parseLimit(s string) (int64, error) {
	const noMemory = 1 << 60
	s = strings.TrimSpace(s)
	if s == "max" {
		return math.MaxInt64, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	switch {
	case err != nil && strings.Trim(s, "0123456789") == "" && s != "": // more than 64 bits
		return math.MaxInt64, nil
	case err != nil:
		return 0, fmt.Errorf("%q is neither bytes nor max", clipLine(s))
	case n >= noMemory:
		return math.MaxInt64, nil
	}
	return max(int64(n), 1), nil // 0 is allowed, and means none at all
}

// readProc parses the lines of a file. One that is not there, or that may not be read, has the zero value.
func readProc[T any](root fs.FS, name string, parse func(lines []string) (T, error)) (value T, err error) {
	file, err := root.Open(name)
	if err != nil {
		return value, nil
	}
	defer file.Close()
	var lines []string
	scanner := bufio.NewScanner(io.LimitReader(file, maxProcFile))
	for scanner.Scan() {
		if line := scanner.Text(); line != "" {
			lines = append(lines, line)
		}
	}
	if err := scanner.Err(); err != nil {
		return value, fmt.Errorf("/%s: %w", name, err)
	}
	if value, err = parse(lines); err != nil {
		return value, fmt.Errorf("/%s: %w", name, err)
	}
	return value, nil
}

// unescape undoes what the kernel does to spaces, tabs, ends of lines and backslashes in mounts: \040 is a space.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace

func hasWord(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// clipLine bounds what an error repeats.
func clipLine(s string) string { return s[:min(len(s), 80)] }
