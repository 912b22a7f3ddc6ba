//! From the settings of a model to the model.

use std::fmt;
use std::sync::Arc;

use crate::key::Key;
use crate::model::Model;
use crate::settings::Settings;

/// The reason why there is no model to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoModel {
    /// None is configured.
    NotConfigured,
    /// This program was built without the client.
    NotBuilt,
    /// This variable holds no key.
    NoKey(String),
}

impl fmt::Display for NoModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConfigured => write!(f, "no apply model is configured"),
            Self::NotBuilt => write!(
                f,
                "this build of Emend cannot ask an apply model: it was built without the feature apply-model"
            ),
            Self::NoKey(variable) => {
                write!(f, "the variable {variable} (apply_model.key_variable) holds no key")
            }
        }
    }
}

/// Makes the model of these settings, with the value of its key's variable. Sends nothing yet.
pub fn connect(settings: &Settings, key: Option<&str>) -> Result<Arc<dyn Model>, NoModel> {
    if !cfg!(feature = "http") {
        return Err(NoModel::NotBuilt);
    }
    let key = match &settings.key_variable {
        Some(variable) => Some(key.and_then(Key::new).ok_or_else(|| NoModel::NoKey(variable.clone()))?),
        None => None,
    };
    connected(settings, key)
}

#[cfg(feature = "http")]
fn connected(settings: &Settings, key: Option<Key>) -> Result<Arc<dyn Model>, NoModel> {
    Ok(Arc::new(crate::over_http::HttpModel::new(settings.clone(), key)))
}

#[cfg(not(feature = "http"))]
fn connected(_settings: &Settings, _key: Option<Key>) -> Result<Arc<dyn Model>, NoModel> {
    Err(NoModel::NotBuilt)
}
