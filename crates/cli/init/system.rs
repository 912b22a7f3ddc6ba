//! The system that a client runs on: where its programs keep their settings there, and how they start another program. It
//! is a value, so that each system is tested on each; and a client on Windows is set up from inside of WSL by it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::workspace::home;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    Linux,
    Macos,
    Windows,
}

/// A system, and the user whose clients are meant.
#[derive(Clone, Debug)]
pub(crate) struct System {
    kind: Kind,
    /// Their home folder, as this machine reaches it.
    home: Option<PathBuf>,
    /// Whether it is the system of this process, whose variables then say where things are.
    is_here: bool,
}

/// A folder of a user.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Base {
    Home,
    /// The folder that this variable names, or else this folder in the home folder.
    Named(&'static str, &'static str),
    /// `$XDG_CONFIG_HOME`, by default `~/.config`, on every system.
    Xdg,
    /// Zed's own.
    Zed,
    /// The folder where programs keep their settings.
    Programs,
}

impl System {
    /// That of this process and its user.
    pub(crate) fn here() -> Self {
        Self { kind: Kind::OWN, home: home(), is_here: true }
    }

    /// Another system, or another home folder, where they are named.
    pub(crate) fn new(kind: Option<Kind>, home: Option<&Path>) -> Self {
        let here = Self::here();
        Self {
            kind: kind.unwrap_or(here.kind),
            is_here: home.is_none() && kind.is_none_or(|kind| kind == here.kind),
            home: home.map(PathBuf::from).or(here.home),
        }
    }

    /// Whether the client runs on Windows, and this process in the Linux beside it (WSL).
    pub(crate) fn is_beside_windows(&self) -> bool {
        self.kind == Kind::Windows && Kind::OWN != Kind::Windows
    }

    /// The folder of this user, if there is a home folder.
    pub(crate) fn folder(&self, base: Base) -> Option<PathBuf> {
        let variable = |name: &str| {
            let value: Option<OsString> = std::env::var_os(name).filter(|_| self.is_here);
            value.map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let in_home = |folder: &str| self.home.as_ref().map(|home| home.join(folder));
        let xdg = || variable("XDG_CONFIG_HOME").or_else(|| in_home(".config"));
        match (base, self.kind) {
            (Base::Home, _) => self.home.clone(),
            (Base::Named(name, folder), _) => variable(name).or_else(|| in_home(folder)),
            (Base::Xdg, _) | (Base::Programs, Kind::Linux) => xdg(),
            (Base::Programs, Kind::Macos) => in_home("Library/Application Support"),
            (Base::Programs, Kind::Windows) => variable("APPDATA").or_else(|| in_home("AppData/Roaming")),
            (Base::Zed, Kind::Linux) => xdg().map(|folder| folder.join("zed")),
            (Base::Zed, Kind::Macos) => in_home(".config/zed"),
            (Base::Zed, Kind::Windows) => self.folder(Base::Programs).map(|folder| folder.join("Zed")),
        }
    }
}

impl Kind {
    const OWN: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::Macos
    } else {
        Self::Linux
    };
}

/// The arguments with which Windows starts this program in the Linux beside it: as it is, without a shell that would read
/// the arguments again.
pub(crate) fn through_wsl(program: &str, distribution: Option<&str>) -> Vec<String> {
    let named = distribution.into_iter().flat_map(|name| ["--distribution", name]);
    named.chain(["--exec", program]).map(str::to_owned).collect()
}

/// A path of Windows as people and other programs write it. What has no links is named by Windows in a form (`\\?\`) that
/// some clients cannot start and some shells not enter.
pub(crate) fn as_written(path: &str) -> String {
    match path.strip_prefix(r"\\?\") {
        Some(rest) if rest.as_bytes().get(1..3) == Some(br":\") => rest.to_owned(),
        Some(rest) if rest.starts_with(r"UNC\") => format!(r"\\{}", &rest[4..]),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_has_its_folders() {
        let of = |kind, base| {
            let system = System::new(Some(kind), Some(Path::new("/home/me")));
            system.folder(base).unwrap().into_os_string().into_string().unwrap()
        };
        for (base, linux, macos, windows) in [
            (Base::Home, "", "", ""),
            (Base::Named("CODEX_HOME", ".codex"), "/.codex", "/.codex", "/.codex"),
            (Base::Xdg, "/.config", "/.config", "/.config"),
            (Base::Zed, "/.config/zed", "/.config/zed", "/AppData/Roaming/Zed"),
            (Base::Programs, "/.config", "/Library/Application Support", "/AppData/Roaming"),
        ] {
            for (kind, folder) in [(Kind::Linux, linux), (Kind::Macos, macos), (Kind::Windows, windows)] {
                assert_eq!(of(kind, base), format!("/home/me{folder}"), "{kind:?} {base:?}");
            }
        }
    }

    #[test]
    fn a_path_of_windows_is_written_as_people_do() {
        for (path, written) in [
            (r"\\?\C:\Users\me\emend.exe", r"C:\Users\me\emend.exe"),
            (r"\\?\UNC\server\share\x", r"\\server\share\x"),
            (r"\\?\Volume{1}\x", r"\\?\Volume{1}\x"),
            (r"C:\x", r"C:\x"),
            ("/usr/bin/emend", "/usr/bin/emend"),
        ] {
            assert_eq!(as_written(path), written);
        }
    }

    #[test]
    fn windows_starts_the_program_of_the_linux_that_is_named() {
        assert_eq!(through_wsl("/bin/emend", None), ["--exec", "/bin/emend"]);
        assert_eq!(
            through_wsl("/bin/emend", Some("Debian")),
            ["--distribution", "Debian", "--exec", "/bin/emend"]
        );
    }
}
