//! The order of resolvers and questions in `resolab-core query`. Not for: sending queries.

use super::pause::PauseSequence;
use super::queried_resolver::QueriedResolver;
use super::shuffle::ResolverShuffle;
use resolab_dns::Question;
use std::io;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// The sequence of queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryPacing {
    /// Each query follows the end of the query before.
    OneByOne,
    /// The queries for a name leave at the same time.
    Together,
    /// `count` questions share a message, or have separate messages sent at the same time. Messages
    /// follow one after the other.
    InMessages { count: usize, one_by_one: bool },
    /// This number of queries waits for a response at any time.
    Outstanding(usize),
}

/// All rounds of queries.
pub(super) struct QueryRounds {
    pub targets: Vec<Arc<QueriedResolver>>,
    /// The questions for each name, by type.
    pub names: Vec<Vec<Arc<Question>>>,
    pub count: u64,
    pub pauses: PauseSequence,
    pub shuffle: Option<ResolverShuffle>,
    pub pace: QueryPacing,
    /// True when a connection is closed after a query, or after queries sent together.
    pub is_cold: bool,
}

impl QueryRounds {
    pub async fn run(mut self) -> io::Result<()> {
        let mut watches = JoinSet::new();
        for target in &self.targets {
            let target = Arc::clone(target);
            watches.spawn(async move { target.watch_idle().await });
        }
        match self.pace {
            QueryPacing::Outstanding(most) => self.ask_outstanding(most).await?,
            QueryPacing::OneByOne | QueryPacing::Together | QueryPacing::InMessages { .. } => {
                self.ask_in_turn().await?;
            }
        }
        for target in &self.targets {
            target.close().await;
        }
        Ok(())
    }

    async fn ask_in_turn(&mut self) -> io::Result<()> {
        let mut order: Vec<usize> = (0..self.targets.len()).collect();
        let groups = self.groups();
        for _ in 0..self.count {
            for group in &groups {
                self.draw(&mut order);
                for index in &order {
                    self.pauses.wait().await;
                    self.ask(&self.targets[*index], group).await?;
                }
            }
        }
        Ok(())
    }

    /// Returns the groups of questions; a resolver gets a whole group before the next resolver's
    /// turn.
    fn groups(&self) -> Vec<Vec<Arc<Question>>> {
        let questions = self.names.iter().flatten().map(Arc::clone);
        match self.pace {
            QueryPacing::Together => self.names.clone(),
            QueryPacing::InMessages { count, .. } => {
                let questions: Vec<_> = questions.collect();
                questions.chunks(count).map(<[_]>::to_vec).collect()
            }
            QueryPacing::OneByOne | QueryPacing::Outstanding(_) => {
                questions.map(|question| vec![question]).collect()
            }
        }
    }

    async fn ask(&self, target: &Arc<QueriedResolver>, group: &[Arc<Question>]) -> io::Result<()> {
        let Some(first) = group.first() else {
            return Ok(());
        };
        target.prepare(first).await?;
        match self.pace {
            QueryPacing::Together => target.ask_together(group).await?,
            QueryPacing::InMessages { one_by_one, .. } => {
                target.ask_several(group, one_by_one).await?;
            }
            QueryPacing::OneByOne | QueryPacing::Outstanding(_) => target.ask(first).await?,
        }
        if self.is_cold {
            target.close().await;
        }
        Ok(())
    }

    /// Queries the resolvers one after the other; no two resolvers share the machine at a time.
    async fn ask_outstanding(&mut self, most: usize) -> io::Result<()> {
        let mut order: Vec<usize> = (0..self.targets.len()).collect();
        self.draw(&mut order);
        for index in order {
            let mut pipeline = QueryPipeline::new(&self.targets[index], most);
            for _ in 0..self.count {
                for question in self.names.iter().flatten() {
                    self.pauses.wait().await;
                    pipeline.ask(question).await?;
                }
            }
            pipeline.finish().await?;
        }
        Ok(())
    }

    fn draw(&mut self, order: &mut [usize]) {
        if let Some(shuffle) = &mut self.shuffle {
            shuffle.apply(order);
        }
    }
}

/// A limited number of queries in flight to a resolver.
struct QueryPipeline<'a> {
    target: &'a Arc<QueriedResolver>,
    permits: Arc<Semaphore>,
    queries: JoinSet<io::Result<()>>,
}

impl<'a> QueryPipeline<'a> {
    fn new(target: &'a Arc<QueriedResolver>, most: usize) -> Self {
        Self {
            target,
            permits: Arc::new(Semaphore::new(most)),
            queries: JoinSet::new(),
        }
    }

    /// Sends a query as soon as the limit allows.
    async fn ask(&mut self, question: &Arc<Question>) -> io::Result<()> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        self.target.prepare(question).await?;
        let (target, question) = (Arc::clone(self.target), Arc::clone(question));
        self.queries.spawn(async move {
            let asked = target.ask(&question).await;
            drop(permit);
            asked
        });
        while let Some(done) = self.queries.try_join_next() {
            done.map_err(io::Error::other)??;
        }
        Ok(())
    }

    async fn finish(mut self) -> io::Result<()> {
        while let Some(done) = self.queries.join_next().await {
            done.map_err(io::Error::other)??;
        }
        Ok(())
    }
}
