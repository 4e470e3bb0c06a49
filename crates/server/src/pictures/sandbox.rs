//! Confines the picture process before it reads its first byte: priority, memory, files and system calls.

use rustix::process::{Resource, Rlimit, nice, setrlimit};

use super::{CPU_TIME, MEMORY};

/// Limits the damage of a bug in a decoder. Returns whether the kernel filters system calls from now on; the limits hold in any
/// case.
pub(super) fn enter() -> bool {
    let most = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    for (resource, limit) in [
        (Resource::As, most(MEMORY)),
        (Resource::Cpu, most(CPU_TIME.as_secs())),
        (Resource::Fsize, most(0)),
        (Resource::Core, most(0)),
        (Resource::Nofile, most(3)),
    ] {
        // If the system has no such limit, only the time limit holds.
        let _ = setrlimit(resource, limit);
    }
    // Messages have priority over pictures. If the system refuses, the priority stays normal.
    let _ = nice(19);
    filter::apply()
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
))]
mod filter {
    use std::collections::BTreeMap;

    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

    /// Allowed: memory, stdin, stdout and exit. Opening a file or socket, starting a process and everything else fails with EPERM, like
    /// a missing permission.
    const ALLOWED: [i64; 25] = [
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_lseek,
        libc::SYS_fstat,
        libc::SYS_brk,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_futex,
        libc::SYS_getrandom,
        libc::SYS_clock_gettime,
        libc::SYS_sched_yield,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_tgkill,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_exit_group,
    ];

    pub(super) fn apply() -> bool {
        let rules: BTreeMap<_, _> = ALLOWED.into_iter().map(|call| (call, Vec::new())).collect();
        let refuse = SeccompAction::Errno(libc::EPERM as u32);
        let Ok(arch) = std::env::consts::ARCH.try_into() else { return false };
        let filter = SeccompFilter::new(rules, refuse, SeccompAction::Allow, arch);
        let program = filter.and_then(BpfProgram::try_from);
        program.is_ok_and(|program| apply_filter(&program).is_ok())
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
)))]
mod filter {
    pub(super) fn apply() -> bool {
        false
    }
}
