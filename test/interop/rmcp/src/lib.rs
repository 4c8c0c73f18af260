//! What a client does with a server, and what it sees of it: the same as `python/scenario.py`, word for word.

use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::{
    sync::{Notify, mpsc, watch},
    time::{sleep, timeout},
};

const STEP: Duration = Duration::from_secs(20);
const HANG: Duration = Duration::from_secs(10);
pub const NOTICE: Duration = Duration::from_secs(5);
/// A person who answers last waits for the other calls of the round, but not for ever.
const PATIENCE: Duration = Duration::from_secs(8);
const MODERN: &str = "2026-07-28";

/// What the client is asked to do: its first argument, as JSON.
#[derive(Deserialize)]
pub struct Target {
    pub era: String,
    pub scenario: String,
    #[serde(default)]
    pub command: Vec<String>,
    pub url: Option<String>,
}

/// Answers what a server asks (the person for `ask`, the model for `sample`), and hears what it tells.
pub struct Person {
    may_answer: watch::Sender<bool>,
    asked: Mutex<Vec<String>>,
    pub changed: Notify,
    progress: Mutex<Option<mpsc::UnboundedSender<f64>>>,
}

impl Default for Person {
    fn default() -> Self {
        Self {
            may_answer: watch::Sender::new(true),
            asked: Mutex::default(),
            changed: Notify::new(),
            progress: Mutex::default(),
        }
    }
}

impl Person {
    pub async fn answer(&self, message: &str) -> String {
        self.asked.lock().unwrap().push(message.into());
        let mut may_answer = self.may_answer.subscribe();
        match timeout(PATIENCE, may_answer.wait_for(|may| *may)).await {
            Ok(_) => format!("blue for {message}"),
            Err(_) => "too late".into(),
        }
    }

    pub fn model(&self, text: &str) -> String {
        format!("said {text}")
    }

    /// One tool that reports progress runs at a time, so nobody else is meant.
    pub fn progressed(&self, value: f64) {
        if let Some(listener) = self.progress.lock().unwrap().as_ref() {
            let _ = listener.send(value);
        }
    }

    fn listen(&self) -> mpsc::UnboundedReceiver<f64> {
        let (sender, receiver) = mpsc::unbounded_channel();
        *self.progress.lock().unwrap() = Some(sender);
        receiver
    }
}

/// One open connection, in the words of the library.
pub trait Partner {
    fn opened(&self) -> Value;
    fn tools(&self) -> impl Future<Output = anyhow::Result<Vec<String>>>;
    fn call(&self, name: &str, arguments: Value) -> impl Future<Output = anyhow::Result<String>>;
    fn read(&self, uri: &str) -> impl Future<Output = anyhow::Result<String>>;
    fn prompt(&self, name: &str, arguments: Value) -> impl Future<Output = anyhow::Result<String>>;
}

/// The result of a step, or the error in its place: an error is an observation too.
async fn seen<T: Into<Value>>(step: impl Future<Output = anyhow::Result<T>>) -> Value {
    match timeout(STEP, step).await {
        Ok(Ok(result)) => result.into(),
        Ok(Err(error)) => format!("error: {error}").into(),
        Err(_) => format!("no answer within {} s", STEP.as_secs()).into(),
    }
}

/// A server that speaks both eras has a tool for each way to ask or to tell: `name` pushes, `name_modern` does as the
/// newer era wants.
fn named(tools: &Value, name: &str, partner: &impl Partner) -> String {
    let modern = format!("{name}_modern");
    let offered = tools
        .as_array()
        .is_some_and(|list| list.iter().any(|tool| tool == &modern));
    if partner.opened()["version"] == MODERN && offered {
        modern
    } else {
        name.into()
    }
}

fn words(name: &str) -> Value {
    match name {
        "ask" => json!({"question": "colour"}),
        "sample" => json!({"text": "rain"}),
        "quick" => json!({"text": "hi"}),
        _ => json!({}),
    }
}

/// Four calls at once. The person answers when the other three are over.
async fn together(partner: &impl Partner, person: &Person, tools: &Value, order: [&'static str; 4]) -> Value {
    let mut heard = person.listen();
    person.may_answer.send_replace(false);
    person.asked.lock().unwrap().clear();
    let ended = Mutex::new(Vec::<&str>::new());
    let one = async |name: &'static str| {
        let tool = if matches!(name, "ask" | "sample") {
            named(tools, name, partner)
        } else {
            name.into()
        };
        let result = seen(partner.call(&tool, words(name))).await;
        let mut ended = ended.lock().unwrap();
        ended.push(name);
        if ended.iter().filter(|name| **name != "ask").count() == 3 {
            person.may_answer.send_replace(true);
        }
        (name.to_string(), result)
    };
    let [first, second, third, fourth] = order;
    let results = tokio::join!(one(first), one(second), one(third), one(fourth));
    let mut observed: Map<String, Value> = [results.0, results.1, results.2, results.3].into_iter().collect();
    let mut progress = vec![];
    while let Ok(value) = heard.try_recv() {
        progress.push(value);
    }
    let ended = ended.into_inner().unwrap();
    let place = |name: &str| ended.iter().position(|other| *other == name);
    observed.insert("progress".into(), json!(progress));
    observed.insert("asked".into(), json!(*person.asked.lock().unwrap()));
    observed.insert("quickEndedBeforeWork".into(), json!(place("quick") < place("work")));
    observed.into()
}

/// A call that is withdrawn as soon as it has begun: whoever drops its future withdraws it.
async fn cancel(partner: &impl Partner, person: &Person) -> Value {
    let mut heard = person.listen();
    let mut begun = false;
    let ended = tokio::select! {
        result = timeout(HANG, partner.call("hang", json!({}))) => match result {
            Ok(Ok(text)) => format!("not left: {text}"),
            Ok(Err(error)) => format!("error: {error}"),
            Err(_) => format!("no answer within {} s", HANG.as_secs()),
        },
        () = async { begun = matches!(timeout(NOTICE, heard.recv()).await, Ok(Some(_))) } => "left".into(),
    };
    let mut told = Value::Null;
    for _ in 0..20 {
        told = seen(partner.call("heard", json!({}))).await;
        if told != "cancelled: 0" {
            break;
        }
        sleep(Duration::from_millis(250)).await;
    }
    json!({"begun": begun, "ended": ended, "heard": told})
}

async fn change(partner: &impl Partner, person: &Person, tools: &Value) -> Value {
    // What was told before is no answer to this change.
    let _ = timeout(Duration::ZERO, person.changed.notified()).await;
    let result = seen(partner.call(&named(tools, "change", partner), json!({}))).await;
    let heard = timeout(NOTICE, person.changed.notified()).await.is_ok();
    let listed = seen(partner.tools()).await;
    let extra = seen(partner.call("extra", json!({}))).await;
    json!({"result": result, "heard": heard, "listed": listed, "extra": extra})
}

/// What the server offers. Where it is slow to start, as a busy machine makes it, until it says so: cold starts are the
/// other scenario's.
async fn offered(partner: &impl Partner) -> Value {
    for _ in 0..20 {
        let tools = seen(partner.tools()).await;
        if tools.as_array().is_some_and(|list| !list.is_empty()) {
            return tools;
        }
        sleep(Duration::from_millis(500)).await;
    }
    json!([])
}

async fn whole(partner: &impl Partner, person: &Person) -> Value {
    let tools = offered(partner).await;
    json!({
        "opened": partner.opened(),
        "quick": seen(partner.call("quick", json!({"text": "one"}))).await,
        "resource": seen(partner.read("note://partner")).await,
        "prompt": seen(partner.prompt("greet", json!({"name": "Ada"}))).await,
        "askFirst": together(partner, person, &tools, ["ask", "sample", "work", "quick"]).await,
        "askLast": together(partner, person, &tools, ["quick", "work", "sample", "ask"]).await,
        "cancel": cancel(partner, person).await,
        "change": change(partner, person, &tools).await,
        "tools": tools,
    })
}

/// Everything at once as soon as the connection stands, then again until it is served.
async fn cold(partner: &impl Partner) -> Value {
    let (quick, resource, prompt, tools) = tokio::join!(
        seen(partner.call("quick", json!({"text": "one"}))),
        seen(partner.read("note://partner")),
        seen(partner.prompt("greet", json!({"name": "Ada"}))),
        seen(partner.tools()),
    );
    let mut later = Value::Null;
    for _ in 0..40 {
        later = seen(partner.call("quick", json!({"text": "two"}))).await;
        if later == "quick: two" {
            break;
        }
        sleep(Duration::from_millis(500)).await;
    }
    let tools_later = seen(partner.tools()).await;
    json!({
        "opened": partner.opened(), "quick": quick, "resource": resource, "prompt": prompt,
        "tools": tools, "later": later, "toolsLater": tools_later
    })
}

/// Connects, observes and prints one line of JSON.
pub async fn run<P: Partner>(
    connect: impl AsyncFnOnce(&Target, Arc<Person>) -> anyhow::Result<P>,
) -> anyhow::Result<()> {
    let target: Target = serde_json::from_str(&std::env::args().nth(1).unwrap_or_default())?;
    let person = Arc::new(Person::default());
    let observed = match connect(&target, person.clone()).await {
        Err(error) => json!({"error": format!("{error:#}")}),
        Ok(partner) if target.scenario == "cold" => cold(&partner).await,
        Ok(partner) => whole(&partner, &person).await,
    };
    println!("{observed}");
    Ok(())
}

/// `tools`, `tools.listChanged`, …: what is declared, without what is false.
pub fn capabilities(declared: &Value) -> Vec<String> {
    let mut names = vec![];
    for (name, members) in declared
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, members)| !members.is_null())
    {
        names.push(name.clone());
        for (member, value) in members.as_object().into_iter().flatten() {
            if !value.is_null() && value != &json!(false) {
                names.push(format!("{name}.{member}"));
            }
        }
    }
    names.sort();
    names
}
