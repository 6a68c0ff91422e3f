package main

import (
	"bytes"
	"io/fs"
	"log/slog"
	"math"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"
)

// Lines as Linux writes them.
const (
	mounts2    = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	mounts1    = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
	mountOther = "22 28 0:21 / /proc rw,relatime - proc proc rw\n33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
	service2   = "0::/system.slice/limnomap.service\n"
)

func treeOf(named ...string) fs.FS {
	f := make(fstest.MapFS)
	for i := 0; i < len(named); i += 2 {
		f[named[i]] = &fstest.MapFile{Data: []byte(named[i+1])}
	}
	return f
}

func TestCgroupMemory(t *testing.T) {
	const none = math.MaxInt64
	for _, test := range []struct {
		name  string
		root  fs.FS
		want  int64
		where string
		wrong string // what the error names; empty if there is none
	}{
		{"no Linux", treeOf(), none, "", ""},
		{"no limits", treeOf("proc/self/cgroup", service2, "proc/self/mountinfo", mountOther+mounts2,
			"sys/fs/cgroup/system.slice/limnomap.service/memory.max", "max\n"), none, "", ""},
		{"a service", treeOf("proc/self/cgroup", service2, "proc/self/mountinfo", mountOther+mounts2,
			"sys/fs/cgroup/system.slice/limnomap.service/memory.max", "536870912\n", "sys/fs/cgroup/system.slice/memory.max", "max\n"),
			536870912, "/sys/fs/cgroup/system.slice/limnomap.service/memory.max", ""},
		{"the slice above allows less", treeOf("proc/self/cgroup", service2, "proc/self/mountinfo", mounts2,
			"sys/fs/cgroup/system.slice/limnomap.service/memory.max", "536870912\n", "sys/fs/cgroup/system.slice/memory.max", "268435456\n"),
			268435456, "/sys/fs/cgroup/system.slice/memory.max", ""},
		{"a container with a namespace", treeOf("proc/self/cgroup", "0::/\n", "proc/self/mountinfo", mounts2, "sys/fs/cgroup/memory.max", "104857600\n"),
			104857600, "/sys/fs/cgroup/memory.max", ""},
		{"a container without", treeOf("proc/self/cgroup", "4:memory:/docker/0123\n3:cpu,cpuacct:/docker/0123\n", "proc/self/mountinfo",
			strings.Replace(mounts1, " / ", " /docker/0123 ", 1), "sys/fs/cgroup/memory/memory.limit_in_bytes", "104857600\n"),
			104857600, "/sys/fs/cgroup/memory/memory.limit_in_bytes", ""},
		{"a cgroup that the mount does not show", treeOf("proc/self/cgroup", "0::/../elsewhere\n", "proc/self/mountinfo",
			strings.Replace(mounts2, " / ", " /docker ", 1), "sys/fs/cgroup/memory.max", "104857600\n"), 104857600, "/sys/fs/cgroup/memory.max", ""},
		{"version 1 without a limit", treeOf("proc/self/cgroup", "4:memory:/user\n", "proc/self/mountinfo", mounts1,
			"sys/fs/cgroup/memory/user/memory.limit_in_bytes", "9223372036854771712\n"), none, "", ""},
		{"both versions", treeOf("proc/self/cgroup", "4:memory:/a\n0::/b\n", "proc/self/mountinfo", mounts1+strings.Replace(mounts2, "cgroup rw", "cgroup/unified rw", 1),
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes", "200000000\n", "sys/fs/cgroup/unified/b/memory.max", "300000000\n"),
			200000000, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes", ""},
		{"a folder with a space", treeOf("proc/self/cgroup", "0::/\n", "proc/self/mountinfo", strings.Replace(mounts2, "/sys/fs/cgroup", `/c\040group`, 1),
			"c group/memory.max", "104857600\n"), 104857600, "/c group/memory.max", ""},
		{"nothing at all", treeOf("proc/self/cgroup", "0::/\n", "proc/self/mountinfo", mounts2, "sys/fs/cgroup/memory.max", "0\n"), 1, "/sys/fs/cgroup/memory.max", ""},
		{"more than there can be", treeOf("proc/self/cgroup", "0::/\n", "proc/self/mountinfo", mounts2,
			"sys/fs/cgroup/memory.max", "99999999999999999999999999\n"), none, "", ""},
		{"a limit that is none", treeOf("proc/self/cgroup", "0::/\n", "proc/self/mountinfo", mounts2, "sys/fs/cgroup/memory.max", "plenty\n"), none, "", "plenty"},
		{"a negative limit", treeOf("proc/self/cgroup", "0::/\n", "proc/self/mountinfo", mounts2, "sys/fs/cgroup/memory.max", "-1\n"), none, "", "-1"},
		{"an empty limit", treeOf("proc/self/cgroup", "0::/\n", "proc/self/mountinfo", mounts2, "sys/fs/cgroup/memory.max", "\n"), none, "", "memory.max"},
		{"two limits", treeOf("proc/self/cgroup", "0::/\n", "proc/self/mountinfo", mounts2, "sys/fs/cgroup/memory.max", "1\n2\n"), none, "", "memory.max"},
		{"no memberships", treeOf("proc/self/cgroup", "nonsense\n"), none, "", "nonsense"},
		{"no mounts", treeOf("proc/self/cgroup", "0::/\n", "proc/self/mountinfo", "nonsense\n"), none, "", "nonsense"},
		{"an endless line", treeOf("proc/self/cgroup", strings.Repeat("x", 2*maxProcFile)), none, "", "/proc/self/cgroup"},
		{"a cgroup deeper than any", treeOf("proc/self/cgroup", "0::"+strings.Repeat("/a", 10_000), "proc/self/mountinfo", mounts2), none, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, where, err := cgroupMemory(test.root)
			if got != test.want || where != test.where || (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%d by %q, %v, want %d by %q and an error with %q", got, where, err, test.want, test.where, test.wrong)
			}
		})
	}
}

// Whatever stands in these files, a limit is positive and nothing is read without end.
func FuzzCgroupMemory(f *testing.F) {
	f.Add(service2, mounts2, "536870912\n")
	f.Add("4:memory:/user\n", mounts1, "9223372036854771712\n")
	f.Add("0::/../..\n", mounts2+mounts1+mountOther, "max")
	f.Fuzz(func(t *testing.T, memberships, mounts, limit string) {
		got, where, err := cgroupMemory(anyLimit{treeOf("proc/self/cgroup", memberships, "proc/self/mountinfo", mounts, "limit", limit)})
		if got <= 0 || err != nil && got != math.MaxInt64 || (got == math.MaxInt64) != (where == "") {
			t.Errorf("%d by %q, %v", got, where, err)
		}
	})
}

// An anyLimit has the file "limit" in the place of every one that is not in /proc.
type anyLimit struct{ fs.FS }

func (a anyLimit) Open(name string) (fs.File, error) {
	if !strings.HasPrefix(name, "proc/") {
		name = "limit"
	}
	return a.FS.Open(name)
}

func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	cgroup := func(limit string) fs.FS {
		return treeOf("proc/self/cgroup", "0::/\n", "proc/self/mountinfo", mounts2, "sys/fs/cgroup/memory.max", limit)
	}
	for _, test := range []struct {
		name string
		root fs.FS
		said string // by GOMEMLIMIT
		want int64
		log  string
	}{
		{"a tenth is left", cgroup("1000000000"), "", 900000000, "limit_bytes=900000000"},
		{"an operator's limit stands", cgroup("1000000000"), "2GiB", math.MaxInt64, "GOMEMLIMIT=2GiB"},
		{"no limit", cgroup("max"), "", math.MaxInt64, ""},
		{"too little", cgroup("1000000"), "", math.MaxInt64, "too little"},
		{"nonsense", cgroup("nonsense"), "", math.MaxInt64, "nonsense"},
	} {
		t.Run(test.name, func(t *testing.T) {
			debug.SetMemoryLimit(math.MaxInt64)
			var log bytes.Buffer
			limitMemory(test.root, func(name string) (string, bool) { return test.said, test.said != "" && name == "GOMEMLIMIT" },
				slog.New(slog.NewTextHandler(&log, nil)))
			if got := debug.SetMemoryLimit(-1); got != test.want {
				t.Errorf("the limit is %d, want %d", got, test.want)
			}
			if !strings.Contains(log.String(), test.log) || (log.Len() == 0) != (test.log == "") {
				t.Errorf("the log says %q, want %q", log.String(), test.log)
			}
		})
	}
}
