//! The macro that makes of the declaration of the settings what is needed of each of them: a field, its key, what becomes of
//! it where several sources speak, and what is told of it. Whatever differs between types stands in [`values`](super::values),
//! whatever differs between sources in [`rules`](super::rules).

/// Declares the settings: the lists, which the policy takes over one by one, and the terms, each of which is one value in
/// the end.
macro_rules! settings {
    (
        lists { $(
            $(#[doc = $list_about:literal])+
            $list:ident: $List:ty {
                default: $list_default:literal,
                flag: $list_flag:expr,
                folder: $list_folder:expr,
                client: $list_client:expr $(,)?
            }
        )* }
        terms { $(
            $(#[doc = $about:literal])+
            $term:ident: $Term:ty {
                default: $default:expr,
                flag: $flag:expr,
                folder: $folder:expr,
                client: $client:expr $(,)?
            }
        )* }
    ) => {
        /// What one source says. What it says nothing of is `None`, or empty.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Settings {
            $($(#[doc = $list_about])+ pub $list: $List,)*
            $($(#[doc = $about])+ pub $term: Option<$Term>,)*
            /// What is run because of an edit.
            pub programs: Programs,
        }

        /// The settings that are one value, each decided.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Terms {
            $($(#[doc = $about])+ pub $term: $Term,)*
        }

        impl Settings {
            /// All settings but the programs, in the order of the reference.
            pub const ALL: &'static [Setting] = &[
                $(Setting {
                    key: stringify!($list),
                    flag: $list_flag,
                    words: <$List as Said>::WORDS,
                    is_list: <$List as Said>::IS_LIST,
                    default: || $list_default.to_owned(),
                    folder: $list_folder,
                    client: $list_client,
                    about: &[$($list_about),+],
                },)*
                $(Setting {
                    key: stringify!($term),
                    flag: $flag,
                    words: <Option<$Term> as Said>::WORDS,
                    is_list: <Option<$Term> as Said>::IS_LIST,
                    default: || Value::in_reference(&Terms::decided(&Self::default()).$term),
                    folder: $folder,
                    client: $client,
                    about: &[$($about),+],
                },)*
            ];

            /// Returns what these settings say, and where they say nothing, the others. Patterns add up; these come last, so
            /// that their exceptions count.
            #[must_use]
            pub fn merged_over(self, other: Self) -> Self {
                Self {
                    $($list: self.$list.merged_over(other.$list),)*
                    $($term: self.$term.merged_over(other.$term),)*
                    programs: if self.programs.is_empty() { other.programs } else { self.programs },
                }
            }

            /// Takes over a value of the flag of this setting.
            pub fn add(&mut self, key: &str, written: &str) -> Result<(), String> {
                match key {
                    $(stringify!($list) => self.$list.add(written),)*
                    $(stringify!($term) => self.$term.add(written),)*
                    _ => Err(format!("there is no setting '{key}'")),
                }
            }

            /// Takes over what a file says of this setting, if there is such a setting.
            pub(in crate::policy) fn set(&mut self, key: &str, value: &DeValue<'_>) -> Option<Result<(), Wrong>> {
                Some(match key {
                    $(stringify!($list) => Said::read(value).map(|said| self.$list = said),)*
                    $(stringify!($term) => Said::read(value).map(|said| self.$term = said),)*
                    _ => return None,
                })
            }

            /// Refuses what not even the person's own file may say of this setting.
            pub(in crate::policy) fn check(&self, key: &str) -> Result<(), Wrong> {
                match key {
                    $(stringify!($list) => self.$list.check(),)*
                    $(stringify!($term) => Said::check(&self.$term),)*
                    _ => Ok(()),
                }
            }

            /// Returns that lists are ignored of which a folder says something and may not.
            pub(in crate::policy) fn ignored_lists(&self) -> Vec<String> {
                let none = Self::default();
                let ignored =
                    [$((self.$list != none.$list).then(|| $list_folder.ignored(stringify!($list))).flatten()),*];
                ignored.into_iter().flatten().collect()
            }

            /// Returns the first of these settings that a client may not say because of what is held of the same, and that.
            pub(in crate::policy) fn first_refused(&self, held: &Self) -> Option<(String, String)> {
                None
                    $(.or_else(|| self.$list.refused(stringify!($list), &held.$list, $list_client)))*
                    $(.or_else(|| self.$term.refused(stringify!($term), &held.$term, $client)))*
            }
        }

        impl Terms {
            /// Returns what is said, and where nothing is, what holds by default.
            pub(in crate::policy) fn decided(said: &Settings) -> Self {
                Self { $($term: said.$term.unwrap_or($default)),* }
            }

            /// Takes over what a folder says and may say. Yields what is ignored, and why.
            pub(in crate::policy) fn tighten(&mut self, said: &Settings) -> Vec<String> {
                let ignored = [$($folder.tighten(stringify!($term), said.$term, &mut self.$term)),*];
                ignored.into_iter().flatten().collect()
            }
        }
    };
}

pub(super) use settings;
