import sys,os,re,subprocess
arch=sys.argv[1]
for obj in sys.argv[2:]:
    d,b=os.path.split(obj)
    like=obj
    cmdf=f'/work/main/build/{arch}/{d}/.{b}.cmd'
    if not os.path.exists(cmdf):
        like=os.path.join(d,'text_poke_test.o'); cmdf=f'/work/main/build/{arch}/{d}/.text_poke_test.o.cmd'
        if not os.path.exists(cmdf): print(arch,obj,'no cmd'); continue
    cmd=open(cmdf).readline().split(':= ',1)[1].strip()
    cmd=cmd.split(' ; ')[0].split(' && ')[0]
    cmd=re.sub(r'-Wp,-MMD,\S+','',cmd)
    src=obj[:-2]+'.c'
    cmd=re.sub(r'-o \S+ (\S+)$',f'-o /tmp/bulk/out/{arch}-{b} /tmp/bulk/{src}',cmd.strip())
    cmd=cmd.replace('ccache ','').replace(' -nostdinc ',' -nostdinc -I/tmp/bulk/include ',1)
    cmd=cmd.replace('-I/work/main/build/src/'+d+' ','-I/tmp/bulk/'+d+' -I/work/main/build/src/'+d+' ')
    r=subprocess.run(['nice','-n','19','sh','-c',cmd],cwd=f'/work/main/build/{arch}')
    print(arch,obj,r.returncode,flush=True)
