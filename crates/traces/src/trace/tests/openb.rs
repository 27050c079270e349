use super::*;

const HEADER: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";

#[test]
fn pods_hold_fractions_of_gpus() {
    let text = format!(
        "{HEADER}openb-pod-0001,6000,12288,1,460,,LS,Running,427061,12902960,427061\n\
         a,8000,512,2,1000,V100M16|V100M32,BE,Failed,5,30,20\n\
         b,8000,512,0,0,,BE,Pending,40,50,\n"
    );
    let (jobs, trace) = read(text.as_bytes(), &on("cpu=96,memory=384,gpu=8"));
    assert_eq!(
        (trace.format(), trace.tick()),
        (TraceFormat::Openb, Tick::Second)
    );
    let vectors: Vec<&[f64]> = trace.demands().vectors().iter().map(|v| &v[..]).collect();
    assert_eq!(vectors, [&[6.0, 12.0, 0.46][..], &[8.0, 0.5, 2.0]]);
    let of = |job: &TraceJob| (job.submit, job.size);
    assert_eq!(
        jobs.iter().map(of).collect::<Vec<_>>(),
        [(5, 10), (427_061, 12_475_899)]
    );
    assert_eq!(trace.account().count(Reason::NeverRan), 1);
    assert_eq!(
        trace.servers().to_string(),
        "cpu=96,memory=384,gpu:devices=8"
    );
    assert_accounted(&trace);
}

#[test]
fn a_list_of_nodes_tells_the_servers() {
    let list = file(
        b"sn,cpu_milli,memory_mib,gpu,model\nn0,32000,262144,0,\nn1,96000,393216,8,V100M32\nn2,32000,262144,0,\n",
    );
    let servers = nodes(list.path()).unwrap();
    assert_eq!(servers.resources, ["cpu", "memory", "gpu"]);
    assert_eq!(servers.devices, ["gpu"]);
    let counts: Vec<u32> = servers.shapes.iter().map(|shape| shape.count).collect();
    assert_eq!(counts, [2, 1]);
    assert_eq!(servers.total(), [160.0, 896.0, 8.0]);
    let reported = |text: &[u8]| nodes(file(text).path()).unwrap_err().to_string();
    assert!(reported(b"sn,cpu\n").contains("no list of nodes"));
    assert!(reported(b"cpu_milli,memory_mib,gpu\n").ends_with("no line stands for a node"));
    assert!(reported(b"cpu_milli,memory_mib,gpu\n1,2,x\n").contains("line 2, column 5: found `x`"));
    assert!(reported(b"cpu_milli,memory_mib,gpu\n1,2\n").contains("line 2, column 4"));
}

/// Half of each of two GPUs is no amount of devices, nor is one and a half.
#[test]
fn several_gpus_are_held_whole() {
    let text = format!(
        "{HEADER}a,8000,512,2,500,,BE,Succeeded,5,30,20\nb,8000,512,2,1000,,BE,Succeeded,5,30,20\n"
    );
    let (faults, jobs) = faults(&text, &on("cpu=96,memory=384,gpu=8"));
    assert_eq!(jobs, 1);
    assert!(
        faults[0].contains("line 2, column 14: found `500`"),
        "{faults:?}"
    );
}

#[test]
fn servers_have_to_be_named_and_of_what_pods_hold() {
    let why = refused(HEADER.as_bytes(), &ReadOptions::default());
    assert!(
        why.contains("give --servers NODES.csv, the trace's list of nodes"),
        "{why}"
    );
    let why = refused(HEADER.as_bytes(), &on("disk=4"));
    assert_eq!(
        why,
        "FILE: openb tells cpu, memory [GiB] and gpu of a job, and the servers have `disk`"
    );
}
