//! Traces and metrics over OTLP, if Emend is built with the feature `otel` and the usual `OTEL_*` variables name a
//! collector. Otherwise nothing is sent.
//!
//! They contain the spans of an edit and metrics from these: the tool, the number of files, the id of the edit, the
//! duration, the code of a refusal. They never contain the content of a file, its path, the text of a request or a line
//! of the log.
//!
//! Threads of the SDK send them from a bounded queue. A collector that is missing, hangs or crashes costs only its own
//! data, and at most [`PATIENCE`] at the end of the process.

use std::env;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, MeterProvider};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{MetricExporter, SpanExporter};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// How long the process waits at its end for data that is not sent yet.
const PATIENCE: Duration = Duration::from_secs(2);

/// The name that the server crate gives to the span of an edit.
const EDIT: &str = "edit";

/// The upper bounds of the histogram in seconds: most edits take a millisecond, some wait for a lock.
const SECONDS: [f64; 12] = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// The running exporters. Dropping them stops them.
pub(crate) struct Telemetry {
    traces: Option<SdkTracerProvider>,
    metrics: Option<SdkMeterProvider>,
    /// Warnings about what was asked for and cannot be done.
    pub(crate) warnings: Vec<String>,
}

impl Default for Telemetry {
    /// The exporters that the environment asks for. One that cannot start is a warning, since edits must still work.
    fn default() -> Self {
        let mut telemetry = Self { traces: None, metrics: None, warnings: Vec::new() };
        let mut wanted = |signal| match wanted(signal, |name| env::var(name).ok()) {
            Ok(wanted) => wanted,
            Err(warning) => {
                telemetry.warnings.push(warning);
                false
            }
        };
        let (traces, metrics) = (wanted("TRACES"), wanted("METRICS"));
        if traces {
            match SpanExporter::builder().with_http().build() {
                Ok(exporter) => {
                    let traces = SdkTracerProvider::builder().with_resource(resource());
                    telemetry.traces = Some(traces.with_batch_exporter(exporter).build());
                }
                Err(error) => telemetry.warnings.push(format!("no traces are sent: {error}")),
            }
        }
        if metrics {
            match MetricExporter::builder().with_http().build() {
                Ok(exporter) => {
                    let metrics = SdkMeterProvider::builder().with_resource(resource());
                    telemetry.metrics = Some(metrics.with_periodic_exporter(exporter).build());
                }
                Err(error) => telemetry.warnings.push(format!("no metrics are sent: {error}")),
            }
        }
        telemetry
    }
}

impl Telemetry {
    /// The layers that receive the spans.
    pub(crate) fn layers<S>(&self) -> Vec<Box<dyn Layer<S> + Send + Sync>>
    where
        S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
    {
        let traces = self.traces.as_ref().map(|provider| {
            let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("emend"));
            // The location in the source is of no use to a collector.
            let layer = layer.with_location(false).with_threads(false).with_tracked_inactivity(false);
            layer.with_filter(own_spans()).boxed()
        });
        let metrics =
            self.metrics.as_ref().map(|provider| Edits::of(provider).with_filter(own_spans()).boxed());
        traces.into_iter().chain(metrics).collect()
    }
}

impl Drop for Telemetry {
    /// Sends the remaining data. The SDK may wait too long for a collector, so this runs in threads with a timeout.
    fn drop(&mut self) {
        let (done, is_done) = mpsc::channel::<()>();
        let end = |shutdown: Box<dyn FnOnce() + Send>| {
            let done = done.clone();
            // If no thread can start, the data is lost.
            _ = thread::Builder::new().spawn(move || {
                shutdown();
                drop(done);
            });
        };
        if let Some(traces) = self.traces.take() {
            end(Box::new(move || drop(traces.shutdown())));
        }
        if let Some(metrics) = self.metrics.take() {
            end(Box::new(move || drop(metrics.shutdown())));
        }
        drop(done);
        // The channel carries no message. It closes when all threads have finished.
        _ = is_done.recv_timeout(PATIENCE);
    }
}

/// Whether the environment asks for this signal, traces or metrics. It must name a collector or say `otlp`. By the
/// specification alone we would send to this machine by default.
fn wanted(signal: &str, variable: impl Fn(&str) -> Option<String>) -> Result<bool, String> {
    let said =
        |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    if said("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Ok(false);
    }
    let of_signal = |what: &str| said(&format!("OTEL_EXPORTER_OTLP_{signal}_{what}"));
    let of_both = |what: &str| of_signal(what).or_else(|| said(&format!("OTEL_EXPORTER_OTLP_{what}")));
    let exporter = format!("OTEL_{signal}_EXPORTER");
    let is_wanted = match said(&exporter).as_deref() {
        None => of_both("ENDPOINT").is_some(),
        Some("otlp") => true,
        Some("none") => false,
        Some(other) => {
            return Err(format!("{exporter} is {other}: only otlp and none are known, nothing is sent"));
        }
    };
    match of_both("PROTOCOL").as_deref() {
        Some(other) if is_wanted && other != "http/protobuf" => Err(format!(
            "OTEL_EXPORTER_OTLP_PROTOCOL is {other}: only http/protobuf is known, nothing is sent"
        )),
        _ => Ok(is_wanted),
    }
}

/// The description of the sender: from the environment, or else `emend`.
fn resource() -> Resource {
    let is_named = env::var("OTEL_SERVICE_NAME").is_ok_and(|name| !name.is_empty())
        || env::var("OTEL_RESOURCE_ATTRIBUTES").is_ok_and(|all| all.contains("service.name="));
    let resource = Resource::builder();
    match is_named {
        true => resource,
        false => resource.with_service_name("emend"),
    }
    .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
    .build()
}

/// A filter for the spans of Emend's own code.
fn own_spans() -> FilterFn {
    let is_own = |metadata: &Metadata<'_>| metadata.is_span() && metadata.target().starts_with("emend");
    FilterFn::new(is_own as fn(&Metadata<'_>) -> bool).with_max_level_hint(LevelFilter::DEBUG)
}

/// The metrics of edits: their number and their duration, by tool and code.
struct Edits {
    count: Counter<u64>,
    duration: Histogram<f64>,
}

/// An edit under way.
struct Edit {
    begun: Instant,
    tool: Option<String>,
    code: Option<String>,
}

impl Edits {
    fn of(provider: &SdkMeterProvider) -> Self {
        let meter = provider.meter("emend");
        Self {
            count: meter.u64_counter("emend.edits").with_description("Calls of tools that edit").build(),
            duration: meter
                .f64_histogram("emend.edit.duration")
                .with_description("How long they took")
                .with_unit("s")
                .with_boundaries(SECONDS.to_vec())
                .build(),
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Edits {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if attributes.metadata().name() == EDIT
            && let Some(span) = context.span(id)
        {
            let mut edit = Edit { begun: Instant::now(), tool: None, code: None };
            attributes.record(&mut edit);
            span.extensions_mut().insert(edit);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(edit) = span.extensions_mut().get_mut::<Edit>()
        {
            values.record(edit);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let edit = context.span(&id).and_then(|span| span.extensions_mut().remove::<Edit>());
        // A call without a code was not answered. It runs again with a longer timeout or after an approval.
        if let Some(Edit { begun, tool: Some(tool), code: Some(code) }) = edit {
            let attributes = [KeyValue::new("tool", tool), KeyValue::new("code", code)];
            self.count.add(1, &attributes);
            self.duration.record(begun.elapsed().as_secs_f64(), &attributes);
        }
    }
}

impl Visit for Edit {
    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "tool" => self.tool = Some(value.to_owned()),
            "code" => self.code = Some(value.to_owned()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_sent_unless_a_collector_is_named() {
        type Case = (&'static [(&'static str, &'static str)], Result<bool, ()>);
        let cases: [Case; 11] = [
            (&[], Ok(false)),
            (&[("OTEL_SERVICE_NAME", "a")], Ok(false)),
            (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a")], Ok(true)),
            (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")], Ok(false)),
            (&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://a")], Ok(true)),
            (&[("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://a")], Ok(false)),
            (&[("OTEL_TRACES_EXPORTER", "otlp")], Ok(true)),
            (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"), ("OTEL_TRACES_EXPORTER", "none")], Ok(false)),
            (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"), ("OTEL_SDK_DISABLED", "TRUE")], Ok(false)),
            (
                &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
                Err(()),
            ),
            (&[("OTEL_TRACES_EXPORTER", "zipkin")], Err(())),
        ];
        for (variables, expected) in cases {
            let variable = |name: &str| {
                let mut found = variables.iter().filter(|(known, _)| *known == name);
                found.next().map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(wanted("TRACES", variable).map_err(drop), expected, "{variables:?}");
        }
    }
}
