//! The macro that expands the declarations of the settings: for each, a field, its key, how several sources are
//! combined, and its documentation. Differences between types are in [`values`](super::values), those between sources
//! in [`rules`](super::rules).

/// Declares the settings: lists, which the policy takes over one by one, and terms, each of which has one value in the
/// end.
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
        /// The settings of one source. Those that it does not set are `None`, or empty.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Settings {
            $($(#[doc = $list_about])+ pub $list: $List,)*
            $($(#[doc = $about])+ pub $term: Option<$Term>,)*
            /// The programs that run around edits.
            pub programs: Programs,
            /// The model that may be asked to apply a sketch.
            pub apply_model: Option<ApplyModel>,
        }

        /// The settings with a single value, each decided.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Terms {
            $($(#[doc = $about])+ pub $term: $Term,)*
        }

        impl Settings {
            /// All settings but the programs and the apply model, in the order of the reference.
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

            /// Returns these settings, and the other ones where these set nothing. Patterns add up; these come last, so
            /// that their exceptions count.
            #[must_use]
            pub fn merged_over(self, other: Self) -> Self {
                Self {
                    $($list: self.$list.merged_over(other.$list),)*
                    $($term: self.$term.merged_over(other.$term),)*
                    programs: if self.programs.is_empty() { other.programs } else { self.programs },
                    apply_model: self.apply_model.or(other.apply_model),
                }
            }

            /// Adds a value of the flag of this setting.
            pub fn add(&mut self, key: &str, written: &str) -> Result<(), String> {
                match key {
                    $(stringify!($list) => self.$list.add(written),)*
                    $(stringify!($term) => self.$term.add(written),)*
                    _ => Err(format!("there is no setting '{key}'")),
                }
            }

            /// Reads the value of this setting from a file, if there is such a setting.
            pub(in crate::policy) fn set(&mut self, key: &str, value: &DeValue<'_>) -> Option<Result<(), Wrong>> {
                Some(match key {
                    $(stringify!($list) => Said::read(value).map(|said| self.$list = said),)*
                    $(stringify!($term) => Said::read(value).map(|said| self.$term = said),)*
                    _ => return None,
                })
            }

            /// Refuses values that are invalid even in the user's own file.
            pub(in crate::policy) fn check(&self, key: &str) -> Result<(), Wrong> {
                match key {
                    $(stringify!($list) => self.$list.check(),)*
                    $(stringify!($term) => Said::check(&self.$term),)*
                    _ => Ok(()),
                }
            }

            /// Returns a message for each list that a folder sets but must not.
            pub(in crate::policy) fn ignored_lists(&self) -> Vec<String> {
                let none = Self::default();
                let ignored =
                    [$((self.$list != none.$list).then(|| $list_folder.ignored(stringify!($list))).flatten()),*];
                ignored.into_iter().flatten().collect()
            }

            /// Returns the first of these settings that a client must not set because of the value in `held`, and that
            /// value.
            pub(in crate::policy) fn first_refused(&self, held: &Self) -> Option<(String, String)> {
                None
                    $(.or_else(|| self.$list.refused(stringify!($list), &held.$list, $list_client)))*
                    $(.or_else(|| self.$term.refused(stringify!($term), &held.$term, $client)))*
            }
        }

        impl Terms {
            /// Returns the values of these settings, and the defaults for the others.
            pub(in crate::policy) fn decided(said: &Settings) -> Self {
                Self { $($term: said.$term.unwrap_or($default)),* }
            }

            /// Applies what a folder may set. Returns a message for each ignored setting.
            pub(in crate::policy) fn tighten(&mut self, said: &Settings) -> Vec<String> {
                let ignored = [$($folder.tighten(stringify!($term), said.$term, &mut self.$term)),*];
                ignored.into_iter().flatten().collect()
            }
        }
    };
}

pub(super) use settings;
